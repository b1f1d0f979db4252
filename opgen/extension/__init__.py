"""Operators of one namespace of the author's own → a whole PyTorch extension, built outside of torch.

    mode         which definitions make an extension, and which make ATen's sources
    rules        what definitions must keep so that the C++ made of them compiles
    extension    `Extension`: all that an emitter may see; `backends` is the data it is derived with
    table        the emitters, in the order in which they run
    shell        the run: definitions to an extension, to files, to disk

Each of the other modules makes one family of files.  The C++ is in `templates/extension/`.
"""

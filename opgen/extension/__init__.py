"""Operators of one namespace → a PyTorch extension, built outside of torch.

    rules        what definitions must keep so that the C++ made of them compiles
    extension    `Extension`: all that an emitter may see; `backends` is the data it is derived with
    table        the emitters, in the order in which they run

The run is `opgen.gen_extension`.  Each of the other modules makes one family of files.  The C++ is in
`templates/extension/`.
"""

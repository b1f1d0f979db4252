"""Operators of one namespace → a PyTorch extension, built outside of torch.

    rules        checks that the C++ generated from the definitions compiles
    extension    `Extension`, the input of all emitters; `backends` has the properties of dispatch keys
    table        the emitters, in the order in which they run

The run is `opgen.gen_extension`.  Each of the other modules emits one family of files.  The C++ is in
`templates/extension/`.
"""

"""The input of emitters: the `Program` of a run and its `Options`, and the programs of autograd and Python bindings."""

"""One module a command: its flags, its loader and its table of emitters, as `COMMAND`.

A module whose name begins with `_` is not a command; several commands share it.
"""

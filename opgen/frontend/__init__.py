"""The files that a user writes → one frozen program, or every error in them.

`nodes` parses YAML and keeps the location of every node, `fields` reads a mapping by a table of
fields, `tags` and `selection` read the files of those names, `native_functions` the operators.
"""

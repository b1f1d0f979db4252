"""The files that a user writes → one frozen program, or every error in them.

`nodes` reads YAML and keeps the place of every word, `fields` reads a mapping by a table,
`tags` and `selection` read the files of those names, `native_functions` the operators.
"""

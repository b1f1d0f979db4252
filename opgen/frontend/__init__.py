"""Turns the files a user writes into one frozen program: YAML to nodes, nodes to the model.

`nodes` reads YAML and keeps the place of every word, `fields` reads a mapping by a table,
`tags` and `selection` read the files of those names, `native_functions` the operators.
"""

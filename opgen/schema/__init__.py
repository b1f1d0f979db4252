"""The schema language of operators: the text of a schema ⇄ frozen values.

`lexer` splits text into tokens with positions, `types`, `arguments`, `names` and `function_schema` hold the values
and parse themselves with a `Cursor`.
"""

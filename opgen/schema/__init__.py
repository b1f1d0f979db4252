"""The schema language of operators: schema text to frozen values, and back.

`lexer` splits text into tokens with positions, `types`, `arguments`, `names` and `function_schema` hold the values
and read themselves from a `Cursor`.
"""

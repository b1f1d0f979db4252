$if x

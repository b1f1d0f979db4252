"""The installed torch → values for emitters: exported models, Inductor's patterns, upgraders."""

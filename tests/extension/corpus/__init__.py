"""A corpus of operators' shapes: every type in every position, written out as a library that echoes what it gets."""

"""What the installed torch knows: where it is, its exported models, and the patterns that Inductor traces."""

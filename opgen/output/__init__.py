"""Turns file values into files: templates, shards, dependency lists, and the one writer.

The rooms before this one make texts; nothing in them opens a file.  What they hand over is a
sequence of `files.OutputFile`, and `writer.write_files` puts it on disk.
"""

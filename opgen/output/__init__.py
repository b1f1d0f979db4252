"""Turns `OutputFile` values into files: templates, shards, dependency lists, and the writer.

Emitters return `files.OutputFile` values and open no file; `writer.write_files` writes them to disk.
"""

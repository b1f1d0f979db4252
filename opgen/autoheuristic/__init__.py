"""Inductor's learned heuristics: measurements → a Python module that Inductor asks which choice to make.

opgen autoheuristic mm.txt --heuristic-name MyMM --output-dir heuristics    →  heuristics/_MyMM.py

import opgen.autoheuristic
opgen.autoheuristic.use("heuristics")                                      Inductor follows it from here on
"""

from __future__ import annotations

from opgen.autoheuristic.loading import use

__all__ = ["use"]

"""Inductor's learned heuristics: measurements → a Python module with which Inductor selects choices.

opgen autoheuristic mm.txt --heuristic-name MyMM --output-dir heuristics    →  heuristics/_MyMM.py

import opgen.autoheuristic
opgen.autoheuristic.use("heuristics")                                      Inductor uses it from here on
"""

from __future__ import annotations

from opgen.autoheuristic.loading import use

__all__ = ["use"]

"""Tools for authors: schemas for editors, explanations of operators, comparisons, reports."""

"""What authors look at while they write: schemas for editors, explanations of operators, reports."""

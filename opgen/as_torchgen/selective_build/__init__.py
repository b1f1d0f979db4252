"""torchgen's selections of operators, based on opgen's."""

"""torchgen's selections of operators, over opgen's."""

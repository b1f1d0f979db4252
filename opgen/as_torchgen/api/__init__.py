"""torchgen's calling conventions, over opgen's."""

"""torchgen's modules about AOTInductor."""

"""What torchgen knows of AOTInductor."""

"""opgen: turns operator definitions in YAML into the C++ and Python that PyTorch needs of them."""

from typing import Final

__version__: Final = "0.1.0"

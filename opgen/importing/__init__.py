"""Operators that are registered by hand → definitions: from sources of C++ and Python, or from the dispatcher."""

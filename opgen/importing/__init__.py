"""Handwritten registrations of operators → definitions: from C++ and Python sources, or from the dispatcher."""

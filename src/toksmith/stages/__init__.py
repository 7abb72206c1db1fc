"""Normalizing, splitting and decoding in Python: for what the kernel leaves to Python."""

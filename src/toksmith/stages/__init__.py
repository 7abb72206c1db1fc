"""The stages that run in Python: normalizing, splitting and decoding."""

"""The version: the package's metadata is made from this line."""

__version__ = "0.1.0"

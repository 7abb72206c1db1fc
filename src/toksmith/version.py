"""The version: the package's metadata is made from this line."""

__version__ = "1.0.0rc1"

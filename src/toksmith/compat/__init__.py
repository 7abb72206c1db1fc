"""Modules with the names, arguments and errors of other tokenizer libraries, run by toksmith.

``import toksmith.compat.tiktoken as tiktoken`` is all that code written for tiktoken needs. These
modules follow the other library where it differs from toksmith: they raise its errors, and take its
arguments by the same names.
"""

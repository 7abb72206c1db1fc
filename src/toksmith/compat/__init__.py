"""Modules with the interface of other tokenizer libraries, which run on toksmith."""

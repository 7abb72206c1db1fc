"""Helpers that know no tokenizer: argument checks, files, threads, progress, lazy imports."""

"""Fuzzing of the parsers in Python: ``python -m tests.fuzz --seconds 20`` runs every target."""

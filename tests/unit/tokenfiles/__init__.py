"""Tests of token files."""

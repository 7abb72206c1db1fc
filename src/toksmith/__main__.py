"""``python -m toksmith``: the command line."""

from toksmith.cli import main

main()

"""Speed of toksmith and its peers; see ``python -m benchmarks --help``."""

"""What the kernel must know to run normalizer and splitter itself."""

"""Facts about normalizer and splitter that let the kernel run them fused with the model."""

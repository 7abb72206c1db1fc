"""Small models and pipelines for tests: by hand and at random, one module per kind of model."""

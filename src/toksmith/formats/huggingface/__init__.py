"""tokenizer.json, and the folder that holds it: one module per part of the format."""

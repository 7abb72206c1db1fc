"""tokenizer.json, and the folder that holds it: one file a part of the format."""

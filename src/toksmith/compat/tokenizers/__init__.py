"""tokenizers' interface, as far as serving engines use it: ``decoders.DecodeStream``."""

"""What a model is: frozen data, one kind a file."""

from toksmith.models.bpe import BPE

Model = BPE

__all__ = ["BPE", "Model"]

"""The cost of a vocabulary in a language model, and the size that scaling laws give.

The laws are those of Tao et al. 2024, "Scaling Laws with Vocabulary: Larger Models Deserve Larger
Vocabularies" (arXiv 2407.13623). ``N_nv`` are the parameters outside the vocabulary,
``N_v = V · d`` those of one embedding matrix, ``F`` the training's FLOPs. Approaches 1 and 2 are
for models that are trained on as much text as is best for their compute, approach 3 for any.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from toksmith._base.checks import whole
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError


@short_repr
@dataclass(frozen=True)
class ModelShape:
    """The language model that a vocabulary is for.

    Attributes:
        d_model: the width of an embedding.
        layers: the number of layers; ``None`` if ``parameters`` is given.
        parameters: those outside embedding and output layer; ``None`` for 12 · layers · d_model²,
            a block of attention (4 · d²) and a feed-forward layer four times as wide (8 · d²).
        tied: whether the output layer's matrix is the embedding's.

    Raises:
        OptionError: a figure is out of range, or neither layers nor parameters are given.

    Example:
        >>> ModelShape(768, 12).non_vocabulary
        84934656
    """

    d_model: int
    layers: int | None = None
    parameters: int | None = None
    tied: bool = True

    def __post_init__(self) -> None:
        whole("d_model", self.d_model, least=1)
        if self.layers is None and self.parameters is None:
            raise OptionError(
                "d_model alone does not give the size of the model: give layers, or parameters "
                "(those outside embedding and output layer)"
            )
        for name, value in (("layers", self.layers), ("parameters", self.parameters)):
            if value is not None:
                whole(name, value, least=1)

    @property
    def non_vocabulary(self) -> int:
        """The parameters outside embedding and output layer."""
        if self.parameters is not None:
            return self.parameters
        return 12 * (self.layers or 0) * self.d_model**2

    def embedding(self, vocab_size: int) -> int:
        """The parameters of the embedding."""
        return vocab_size * self.d_model

    def output(self, vocab_size: int) -> int:
        """The parameters of the output layer that are not the embedding's."""
        return 0 if self.tied else vocab_size * self.d_model

    def flops_per_token(self, vocab_size: int) -> int:
        """FLOPs of training on one token, 6 · (N_nv + V · d): looking an embedding up is free.

        Attention's own cost, which grows with the length of the context, is left out.
        """
        return 6 * (self.non_vocabulary + vocab_size * self.d_model)

    def logits_share(self, vocab_size: int) -> float:
        """The part of those FLOPs that the output layer takes."""
        return 6 * vocab_size * self.d_model / self.flops_per_token(vocab_size)


def compute_optimal_flops(non_vocabulary: float) -> float:
    """Return the training FLOPs for which a model of this size is best (approach 1).

    Example:
        >>> f"{compute_optimal_flops(7e9):.2g}"
        '7.1e+21'
    """
    return (non_vocabulary / exp(-2.4847)) ** 2


def vocabulary_by_isoflops(non_vocabulary: float, d_model: int) -> float:
    """Return the vocabulary size of approach 1: N_nv = e^-2.4847 F^0.5, N_v = e^-1.5890 F^0.4164.

    Example:
        >>> round(vocabulary_by_isoflops(7e9, 4096), -3)
        62000.0
    """
    flops = compute_optimal_flops(non_vocabulary)
    return float(exp(-1.5890) * flops**0.4164 / d_model)


def vocabulary_by_derivative(non_vocabulary: float, d_model: int) -> float:
    """Return the vocabulary size of approach 2: N_v = 3,145,728 · (N_nv / 33e6)^0.8354.

    Example:
        >>> round(vocabulary_by_derivative(7e9, 4096), -3)
        67000.0
    """
    return float(3_145_728 * (non_vocabulary / 33e6) ** 0.8354 / d_model)


_A2, _ALPHA2 = 0.1958, 0.6707
_B, _BETA = 2.1241, 0.4466
_MILLION, _PETA = 1e6, 1e15


def vocabulary_by_loss(non_vocabulary: float, d_model: int, flops: float) -> float:
    """Return the vocabulary size of approach 3, for ``flops`` FLOPs of training.

    Of the loss formula A1 / N_nv^α1 + A2 / N_v^α2 + B / D^β - E, with D = F / (6 (N_nv + N_v))
    tokens, the least value: more tokens of the vocabulary (A2 = 0.1958, α2 = 0.6707; parameters in
    millions) leave fewer tokens of text (B = 2.1241, β = 0.4466; in thousand millions).

    Example:
        >>> round(vocabulary_by_loss(7e9, 4096, compute_optimal_flops(7e9)), -3)
        60000.0
    """
    others = non_vocabulary / _MILLION
    price = _BETA * _B * (6 / (flops / _PETA)) ** _BETA

    def falls(vocabulary: float) -> bool:
        gain = _ALPHA2 * _A2 * vocabulary ** -(_ALPHA2 + 1)
        loss = price * (others + vocabulary) ** (_BETA - 1)
        return bool(gain > loss)

    low, high = 0.0, 1.0
    while falls(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) else (low, middle)
    return high * _MILLION / d_model

"""SentencePiece's messages of a segmentation, under the names of its own module."""

from __future__ import annotations

from toksmith.compat.sentencepiece.messages import message_classes

SentencePieceText = message_classes()["SentencePieceText"]
NBestSentencePieceText = message_classes()["NBestSentencePieceText"]
DESCRIPTOR = SentencePieceText.DESCRIPTOR.file

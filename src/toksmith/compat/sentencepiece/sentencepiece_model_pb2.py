"""SentencePiece's messages of a model file, under the names of its own module."""

from __future__ import annotations

from toksmith.compat.sentencepiece.messages import message_classes

ModelProto = message_classes()["ModelProto"]
TrainerSpec = message_classes()["TrainerSpec"]
NormalizerSpec = message_classes()["NormalizerSpec"]
SelfTestData = message_classes()["SelfTestData"]
DESCRIPTOR = ModelProto.DESCRIPTOR.file

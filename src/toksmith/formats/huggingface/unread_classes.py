"""The tokenizer classes of ``transformers`` whose vocabulary files are not read, and why."""

from __future__ import annotations

_OWN_CODE = "it runs Python code of its own, which no file describes"
UNREAD: dict[str, str] = {
    "BartphoTokenizer": "its ids are those of dict.txt, not of its SentencePiece model",
    "BertJapaneseTokenizer": "it cuts words with MeCab, Sudachi or Juman++",
    "BertweetTokenizer": "it rewrites tweets with Python code, and its ids are those of vocab.txt",
    "BioGptTokenizer": "it cuts words with Moses",
    "BlenderbotSmallTokenizer": _OWN_CODE,
    "CTRLTokenizer": _OWN_CODE,
    "CanineTokenizer": "it has no vocabulary: ids are code points",
    "ClvpTokenizer": "it spells numbers and abbreviations out",
    "CpmAntTokenizer": "it cuts words with jieba",
    "CpmTokenizer": "it cuts words with jieba",
    "DiaTokenizer": "it has no vocabulary file: ids are bytes and speaker tags",
    "EsmTokenizer": "its vocab.txt is a list of amino acids without rules",
    "EsmcTokenizer": "it has no vocabulary file but tokenizer.json",
    "FSMTTokenizer": "it cuts words with Moses, and has two vocabularies",
    "FastSpeech2ConformerTokenizer": "it turns words into phonemes",
    "FlaubertTokenizer": "it cuts words with Moses",
    "GPTNeoXJapaneseTokenizer": _OWN_CODE,
    "GPTSw3Tokenizer": _OWN_CODE,
    "LasrTokenizer": "transformers numbers its unknown token differently from its model",
    "LukeTokenizer": "it has a second vocabulary, of entities",
    "M2M100Tokenizer": "its ids are those of vocab.json, not of its SentencePiece model",
    "MLukeTokenizer": "it has a second vocabulary, of entities",
    "MarianTokenizer": "it has two SentencePiece models, and its ids are those of vocab.json",
    "MarkupLMTokenizer": "it reads HTML nodes, not text",
    "MgpstrTokenizer": "it only decodes",
    "MyT5Tokenizer": "it rewrites bytes by a table of its own",
    "NllbTokenizer": "its languages are not in its SentencePiece model",
    "NougatTokenizer": "it has no vocabulary file but tokenizer.json",
    "PLBartTokenizer": "its languages are not in its SentencePiece model",
    "PhobertTokenizer": "its merges and ids are in two files that no other class has",
    "ProphetNetTokenizer": _OWN_CODE,
    "RagTokenizer": "it is two tokenizers: load the folder of each",
    "RoCBertTokenizer": "it has vocabularies of shapes and sounds besides",
    "RoFormerTokenizer": "it cuts words with jieba",
    "SeamlessM4TTokenizer": "its languages are not in its SentencePiece model",
    "SiglipTokenizer": _OWN_CODE,
    "Speech2TextTokenizer": "its ids are those of vocab.json, not of its SentencePiece model",
    "SpeechT5Tokenizer": _OWN_CODE,
    "TapasTokenizer": "it reads tables, not text",
    "Tipsv2Tokenizer": "it has no vocabulary file but tokenizer.json",
    "VitsTokenizer": "it turns words into phonemes",
    "Wav2Vec2CTCTokenizer": "it only decodes",
    "Wav2Vec2PhonemeCTCTokenizer": "it turns words into phonemes",
    "XGLMTokenizer": "it has no vocabulary file but tokenizer.json",
    "XLMTokenizer": "it cuts words with Moses",
}
"""The reason why toksmith does not read the vocabulary files of a class.

With a tokenizer.json in the folder, which holds all rules, most of these classes are read.
"""

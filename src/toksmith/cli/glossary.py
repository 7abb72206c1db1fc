"""The glossary: the terms that ``toksmith help`` and the documentation explain."""

from __future__ import annotations

import unicodedata

TERMS: dict[str, str] = {
    "added token": "A token that a tokenizer file lists beside its model. It is found in the text "
    "before anything else is done, and no merge makes or cuts it.",
    "attention mask": "An array beside the ids of a batch: 1 for a token, 0 for padding. A model "
    "ignores the ids where it is 0.",
    "batch": "Several texts that are encoded, or given to a model, in one call.",
    "bootstrap interval": "The range of a measure over many samples, drawn with replacement from "
    "the passages of one sample. If it is narrow, another sample would give nearly the same "
    "figure.",
    "BOS": "Beginning of sequence: a special token that some models expect before a text.",
    "BPE": "Byte pair encoding. Training merges the most frequent pair of neighbouring tokens "
    "into a new token, again and again. Encoding applies the same merges in the same order.",
    "BPE-dropout": "Subword regularization for BPE: encoding skips each merge with some "
    "probability.",
    "byte fallback": "A character that is not in the vocabulary becomes the tokens of its UTF-8 "
    "bytes, instead of the unknown token.",
    "byte order mark": "The code point U+FEFF at the start of a file. toksmith skips it.",
    "byte-level": "A tokenizer whose smallest tokens are the 256 bytes. It can encode any text.",
    "character coverage": "A SentencePiece option: the share of the characters of the training "
    "text that become tokens. The rare rest is unknown, or is encoded as bytes.",
    "checkpoint": "The state of a training, kept in a folder. After an interruption, the same "
    "command continues from there.",
    "chunk": "A piece of text between two cuts of the split pattern, such as a word with the "
    "space before it. No token crosses a cut, so each chunk is encoded by itself. Other libraries "
    "say pre-token.",
    "code point": "The number that Unicode gives a character, such as U+0041 for A.",
    "combining mark": "A code point that changes the character before it, such as an accent.",
    "compression": "Bytes of text per token. More is denser.",
    "corpus": "The texts that a tokenizer is trained or measured on.",
    "counts": "How often each distinct chunk occurs in a corpus. Training needs only the counts, "
    "so they can be made once and used for many trainings.",
    "coverage": "The share of a text's tokens that its most frequent 1, 2, 4, 8 … distinct tokens "
    "make up.",
    "decoder": "The last stage of a tokenizer: it joins tokens into text, and undoes marks such "
    "as ▁ and ##. Byte-level tokenizers need none.",
    "decoding": "Turning ids back into text.",
    "document": "A text of a corpus, such as a page or a row of a table. It is encoded by itself: "
    "no token crosses from one document to the next.",
    "embedding": "The vector that a language model holds for each id. A larger vocabulary needs "
    "more of them.",
    "encoding": "Turning text into ids. Also the result of doing so: ids, tokens and spans.",
    "EOS": "End of sequence: the special token after a text, such as <|endoftext|>. A language "
    "model ends its answer with it.",
    "fertility": "Tokens of a text, divided by its words. Tokens of spaces and marks count, too. "
    "1 means that each word is one token and nothing else is left.",
    "Gini coefficient": "How unequally a tokenizer serves several languages, from 0 (each needs "
    "as many tokens per byte as the others) to nearly 1.",
    "grapheme": "What a reader takes for one character: a letter with its accents, or an emoji "
    "with its skin tone. It can be several code points.",
    "hole": "An id below the highest that no token has.",
    "ICU": "International Components for Unicode, the library that finds words and sentences "
    "here, also in scripts without spaces. pip install toksmith[segment] installs it.",
    "id": "The number of a token. A model reads and writes ids.",
    "invalid UTF-8": "Bytes that are no characters in UTF-8. Byte-level tokenizers keep them; all "
    "others see U+FFFD.",
    "lattice": "All ways to cut a text into tokens of a vocabulary, drawn as a graph. Unigram "
    "chooses the path whose tokens have the highest product of probabilities.",
    "likelihood": "How probable a model makes a text: the product of the probabilities of its "
    "tokens.",
    "literal": "The text of a special token, such as <|endoftext|>, as it may also occur in a "
    "document.",
    "logits": "The scores that a language model computes for each id of the vocabulary, at every "
    "token. A larger vocabulary takes more memory for them.",
    "lone surrogate": "Half of a surrogate pair without the other half. It is no character, and "
    "becomes U+FFFD.",
    "longest match": "Encoding from left to right with the longest token that fits, without "
    "merges or scores.",
    "merge": "A pair of tokens and the token that replaces it. The list of merges, in the order "
    "in which they were learned, is what BPE knows.",
    "merge rank": "The position of a merge in the list of merges. Where several merges apply, the "
    "one with the lowest rank goes first.",
    "metaspace": "The mark ▁ (U+2581), which SentencePiece writes for a space.",
    "model": "The stage of a tokenizer that turns chunks into ids: BPE, WordPiece, Unigram, whole "
    "words, or the longest match. Also short for a language model.",
    "near-duplicate": "A token that differs from another only in case or in the white space "
    "around it.",
    "NFC": "One of Unicode's four normalization forms: a letter and its accent become one code "
    "point if there is one. NFD takes them apart. NFKC and NFKD also replace variants, such as ﬁ "
    "by fi.",
    "NFKC": "Like NFC, and variants become plain characters: ﬁ becomes fi, and ² becomes 2.",
    "normalized sequence length": "Tokens of a text, divided by the tokens that a reference "
    "tokenizer makes of it.",
    "normalizer": "The first stage of a tokenizer. It rewrites the text: lower case, NFC, no "
    "accents.",
    "offset": "The position of something in a text, a file or an array, counted from 0.",
    "overflow": "The rest of a text that is too long for a row of a batch. It is dropped, or goes "
    "to further rows.",
    "padding": "Ids that fill the rows of a batch up to the same length. The attention mask is 0 "
    "there.",
    "pair": "Two neighbouring tokens. Training counts pairs, and merges the best one.",
    "parity": "Tokens of a text in one language, divided by tokens of its translation in another. "
    "1 means that both languages pay the same.",
    "partial character": "A token that starts or ends inside a character's UTF-8 bytes. Alone it "
    "is invalid UTF-8.",
    "piece": "SentencePiece's word for a token.",
    "pipeline": "The stages of a tokenizer: normalizer, splitter, model, decoder, and the special "
    "tokens around them.",
    "pre-token": "Another word for chunk. A pre-tokenizer is what cuts text into chunks: see "
    "split.",
    "pre-tokenizer": "The name that other libraries have for the splitter.",
    "prompt injection": "Text of a user that acts as instructions. A special token's literal in "
    "such text is plain text unless you ask for the token.",
    "rank": "The position of a merge or token in the order of learning. See merge rank.",
    "Rényi efficiency": "How evenly a text uses the tokens of a vocabulary, from 0 to 1. A few "
    "very frequent tokens make it small.",
    "round trip": "decode(encode(text)) == text. Byte-level tokenizers keep every text; those "
    "that normalize do not.",
    "sample": "A part of a corpus, chosen at random. The same seed chooses the same part.",
    "script": "The writing system of a character, such as Latin or Han.",
    "sentence": "A stretch of text between two sentence boundaries. toksmith finds them with "
    "rules for each language; see `toksmith sentences`.",
    "SentencePiece": "Google's library for BPE and Unigram on raw text. It writes a space as ▁ "
    "and needs no split into words.",
    "span": "Start and end of a token in the text: of characters, or of UTF-8 bytes. The end is "
    "not part of it.",
    "special token": "A token that stands for no text, such as <|endoftext|> or [CLS]. Its "
    "literal in a text is treated as plain text unless you ask for the token.",
    "split": "The rule that cuts text into chunks: a regular expression, or the name of a "
    "published one, such as gpt2 or o200k.",
    "stride": "The number of tokens that each further row of a long text repeats from the row "
    "before.",
    "subword regularization": "Training a language model on segmentations of a text that are "
    "drawn at random, so that it depends less on a single one.",
    "SuperBPE": "BPE in two stages: first within words, then also across spaces. Its tokens can "
    "be phrases.",
    "surrogate pair": "Two units of UTF-16 that make one code point above U+FFFF, such as an "
    "emoji.",
    "template": "Where a tokenizer adds special tokens around a text or a pair of texts, such as "
    "[CLS] … [SEP].",
    "tie": "Two pairs that are equally frequent when BPE chooses a merge. Libraries break ties in "
    "different ways, so the same text can give them different vocabularies.",
    "token": "An entry of the vocabulary: a string of bytes or characters with an id.",
    "tokenizer": "A program that cuts text into tokens, gives each its id, and turns ids into "
    "text again.",
    "training record": "The options, corpus files and figures of a training, kept with the "
    "tokenizer.",
    "truncation": "Cutting a text so that it has at most a given number of tokens.",
    "type id": "A number beside each id of a batch: usually 0 for the first text of a pair, 1 for "
    "the second.",
    "U+FFFD": "The replacement character, �. It is shown in place of bytes that are invalid UTF-8.",
    "UAX #29": "Unicode's standard for the boundaries of graphemes, words and sentences.",
    "Unigram": "A model that gives each token a probability, and encodes a text as the most "
    "probable sequence of tokens. Training starts with many tokens and removes the least useful.",
    "unknown token": "What a text becomes that no token can represent, such as [UNK].",
    "unreachable token": "A token that encoding never makes, whatever the text.",
    "UTF-16": "An encoding of Unicode with 2 or 4 bytes per character.",
    "UTF-32": "An encoding of code points in four bytes each.",
    "UTF-8": "An encoding of Unicode with 1 to 4 bytes per character; ASCII has 1. Byte-level "
    "tokenizers work on these bytes.",
    "Viterbi": "The algorithm that finds the most probable path through a lattice. Unigram "
    "encodes with it.",
    "vocabulary": "All tokens of a tokenizer, each with its id.",
    "vocabulary use": "The share of a vocabulary's tokens that occur in a text.",
    "word": "A stretch of text that holds a letter or a number, between two word boundaries of "
    "UAX #29. Measures count these, not chunks.",
    "WordPiece": "BERT's model. A word is cut into the longest tokens that match, from left to "
    "right; tokens inside a word begin with ##.",
}
"""The meaning of each term, in one or two sentences."""


_ALIASES = {"byte pair encoding": "BPE", "Gini": "Gini coefficient", "grapheme cluster": "grapheme"}


def meaning(words: str) -> str | None:
    """Return the meaning of a term; ``None`` for an unknown term.

    Args:
        words: the term in upper or lower case, with or without accents, one or several.

    Example:
        >>> meaning("Chunks")[:40]
        'A piece of text between two cuts of the '
    """
    wanted = _fold(words)
    found = {_fold(term): text for term, text in TERMS.items()}
    found |= {_fold(alias): TERMS[term] for alias, term in _ALIASES.items()}
    for ending, singular in (("", ""), ("s", ""), ("ies", "y"), ("es", "")):
        if wanted.endswith(ending):
            text = found.get(wanted[: len(wanted) - len(ending)] + singular)
            if text is not None:
                return text
    return None


def _fold(words: str) -> str:
    letters = unicodedata.normalize("NFD", words.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))

"""The glossary: the terms that ``toksmith help`` and the documentation explain."""

from __future__ import annotations

TERMS: dict[str, str] = {
    "added token": "A token that a tokenizer file lists beside its model. It is found in the text "
    "before anything else is done, and no merge makes or cuts it.",
    "BPE": "Byte pair encoding. Training merges the most frequent pair of neighbouring tokens into "
    "a new token, again and again. Encoding applies the same merges in the same order.",
    "byte fallback": "A character that is not in the vocabulary becomes the tokens of its UTF-8 "
    "bytes, instead of the unknown token.",
    "byte-level": "A tokenizer whose smallest tokens are the 256 bytes. It can encode any text.",
    "chunk": "A piece of text between two cuts of the split pattern, such as a word with the space "
    "before it. No token crosses a cut, so each chunk is encoded by itself. Other libraries say "
    "pre-token.",
    "code point": "The number that Unicode gives a character, such as U+0041 for A.",
    "compression": "Bytes of text per token. More is denser.",
    "counts": "How often each distinct chunk occurs in a corpus. Training needs only the counts, "
    "so they can be made once and used for many trainings.",
    "fertility": "Tokens per word, the mean over the words of a text. 1 means that every word is "
    "a token of its own.",
    "grapheme": "What a reader takes for one character: a letter with its accents, or an emoji "
    "with its skin tone. It can be several code points.",
    "id": "The number of a token. A model reads and writes ids.",
    "lattice": "All ways to cut a text into tokens of a vocabulary, drawn as a graph. Unigram "
    "chooses the path whose tokens have the highest product of probabilities.",
    "merge": "A pair of tokens and the token that replaces it. The list of merges, in the order in "
    "which they were learned, is what BPE knows.",
    "merge rank": "The position of a merge in the list of merges. Where several merges apply, the "
    "one with the lowest rank goes first.",
    "normalizer": "The first stage of a tokenizer. It rewrites the text: lower case, NFC, no "
    "accents.",
    "padding": "Ids that fill the rows of a batch up to the same length. The attention mask is 0 "
    "there.",
    "parity": "Tokens of a text in one language, divided by tokens of its translation in another. "
    "1 means that both languages pay the same.",
    "pipeline": "The stages of a tokenizer: normalizer, splitter, model, decoder, and the special "
    "tokens around them.",
    "Rényi efficiency": "How evenly a text uses the tokens of a vocabulary, from 0 to 1. A few "
    "very frequent tokens make it small.",
    "round trip": "decode(encode(text)) == text. Byte-level tokenizers keep every text; those that "
    "normalize do not.",
    "sentence": "A stretch of text between two sentence boundaries. toksmith finds them with rules "
    "for each language; see `toksmith sentences`.",
    "span": "Start and end of a token in the text: of characters, or of UTF-8 bytes. The end is "
    "not part of it.",
    "special token": "A token that stands for no text, such as <|endoftext|> or [CLS]. Its literal "
    "in a text is treated as plain text unless you ask for the token.",
    "split": "The rule that cuts text into chunks: a regular expression, or the name of a "
    "published one, such as gpt2 or o200k.",
    "template": "Where a tokenizer adds special tokens around a text or a pair of texts, such as "
    "[CLS] … [SEP].",
    "token": "An entry of the vocabulary: a string of bytes or characters with an id.",
    "UAX #29": "Unicode's standard for the boundaries of graphemes, words and sentences.",
    "Unigram": "A model that gives each token a probability, and encodes a text as the most "
    "probable sequence of tokens. Training starts with many tokens and removes the least useful.",
    "unknown token": "What a text becomes that no token can represent, such as [UNK].",
    "vocabulary": "All tokens of a tokenizer, each with its id.",
    "WordPiece": "BERT's model. A word is cut into the longest tokens that match, from left to "
    "right; tokens inside a word begin with ##.",
}
"""The meaning of each term, in one or two sentences."""


def meaning(words: str) -> str | None:
    """Return the meaning of a term, in any case and number; ``None`` for an unknown term.

    Example:
        >>> meaning("Chunks")[:40]
        'A piece of text between two cuts of the '
    """
    wanted = words.casefold()
    found = {term.casefold(): text for term, text in TERMS.items()}
    for ending, singular in (("", ""), ("s", ""), ("ies", "y"), ("es", "")):
        if wanted.endswith(ending):
            text = found.get(wanted[: len(wanted) - len(ending)] + singular)
            if text is not None:
                return text
    return None

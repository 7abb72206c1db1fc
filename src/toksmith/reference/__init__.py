"""Every algorithm in plain Python: to read, to test the kernel against, and to trace.

Read in this order:

1. :mod:`~toksmith.reference.minimal`: byte pair encoding on one page.
2. :mod:`~toksmith.reference.bpe_training`: the same with ties, counts and minimum frequencies.
3. :mod:`~toksmith.reference.bpe`: how a list of merges turns a chunk into tokens.
4. :mod:`~toksmith.reference.wordpiece`: the longest piece that fits (BERT), and its training.
5. :mod:`~toksmith.reference.unigram`: the most probable pieces, and how probabilities are learned.
6. :mod:`~toksmith.reference.sentencepiece_bpe`: BPE over characters, as SentencePiece does it.

Nothing here is meant to be fast.
"""

"""Packing: an index that arranges documents in sequences of one length, beside the token files.

``methods.py`` assigns documents to sequences, ``index.py`` writes and reads the index, ``rows.py``
reads the sequences, ``order.py`` shuffles and shares them among processes, and ``torch_data.py``
is PyTorch's view of them.
"""

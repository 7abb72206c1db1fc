"""Counting: reads a corpus and counts its chunks, lines, words or documents.

Data flows one way, and nothing here imports a trainer:

- ``corpus`` is the text of a training: files, texts or existing counts. ``counted_documents`` makes
  a source of documents of counts, ``counted_parts`` keeps the counts of parts in a folder, and
  ``forecast`` refuses early what will not fit into memory.
- ``chunks`` and ``lines`` feed documents to a counter in the kernel; ``weights`` applies weights.
- The results are ``counts`` in memory, or ``streaming`` counts, passed on batch by batch;
  ``splits`` names the splitter that cut them.
- ``words`` makes words of chunks, by ``words_of_lines``, or by ``words_of_documents``, which uses
  ``bulk_splitting`` where it can; ``word_feeds`` counts them, and ``symbol_words`` spells them in
  symbols, from which models learn.
- ``files`` holds counts as files, and ``jobs`` makes such files, on one machine or many.
"""

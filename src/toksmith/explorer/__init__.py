"""The local web app of ``toksmith explore``, for looking into tokenizers.

Python makes the HTML, and a little script of our own runs on it; nothing is loaded from another
machine. The content of the pages comes from modules that know nothing of the web (``excerpts``,
``vocabulary``, ``jobs`` …); ``app`` routes requests to them.

The app serves one person on one machine: it listens on the loopback address only, and ``guard``
refuses every request that another web page could make a browser send.
"""

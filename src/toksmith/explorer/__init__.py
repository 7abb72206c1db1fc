"""A local web app to look into tokenizers: ``toksmith explore``.

It is HTML made in Python, and a little script of our own; nothing is asked of any other machine.
What a page shows is worked out in modules that know nothing of the web (``stretches``,
``vocabulary``, ``jobs`` …); ``app`` puts them behind addresses.

The app serves one person on one machine: it listens on the loopback address alone, and ``guard``
refuses whatever another web page could make a browser ask of it.
"""

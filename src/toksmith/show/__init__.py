"""Views of texts and their tokens: in the terminal and as HTML.

The views are imported from their own files, so that nobody loads what they do not show.
"""

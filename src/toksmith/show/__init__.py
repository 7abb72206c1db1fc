"""Views of results: in the terminal and as HTML.

Each view is imported from its own file when it is first shown.
"""

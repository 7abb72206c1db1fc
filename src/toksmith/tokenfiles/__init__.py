"""Token files: writes a corpus as token files, reads them, checks them, and packs them."""

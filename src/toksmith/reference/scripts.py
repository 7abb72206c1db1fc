"""The script of a character (Unicode's property Script), as the ``regex`` package knows it."""

from __future__ import annotations

from functools import cache

import regex

COMMON = "Zyyy"
"""The script of what many scripts use, such as digits; also of what is no character."""

INHERITED = "Zinh"
"""The script of combining marks: that of the character before."""

_SCRIPTS = """
Latn Cyrl Grek Arab Hebr Deva Hani Hira Kana Hang Thai Zinh Armn Geor Beng Taml Telu Guru Gujr Orya
Knda Mlym Sinh Laoo Tibt Mymr Ethi Cher Cans Khmr Mong Bopo Yiii Syrc Thaa Nkoo Tfng Copt Goth Runr
Ogam Tglg Hano Buhd Tagb Limb Tale Talu Bugi Glag Sylo Bali Phag Sund Lepc Olck Vaii Saur Kali Rjng
Cham Lana Tavt Samr Lisu Bamu Java Mtei Batk Mand Cakm Plrd Brai Linb Ital Ugar Shaw Osma Cprt Khar
Xpeo Xsux Phnx Lyci Cari Lydi Avst Egyp Armi Sarb Prti Phli Orkh Kthi Brah Merc Mero Shrd Sora Takr
Aghb Bass Dupl Elba Gran Khoj Sind Lina Mahj Mani Mend Modi Mroo Nbat Narb Palm Pauc Perm Phlp Sidd
Tirh Wara Ahom Hluw Hatr Mult Hung Sgnw Adlm Bhks Marc Newa Osge Tang Gonm Nshu Soyo Zanb Dsrt Hmng
Dogr Gong Maka Medf Rohg Sogd Sogo Elym Nand Hmnp Wcho Chrs Diak Kits Yezi
"""


@cache
def script(character: str) -> str:
    """Return the four letters (ISO 15924) of a character's script.

    Example:
        >>> script("a"), script("я"), script("1")
        ('Latn', 'Cyrl', 'Zyyy')
    """
    found = _pattern().match(character)
    return found.lastgroup if found and found.lastgroup else COMMON


@cache
def _pattern() -> regex.Pattern[str]:
    """Return a pattern with one group a script, the frequent ones first."""
    kinds = (rf"(?P<{name}>\p{{Script={name}}})" for name in _SCRIPTS.split())
    return regex.compile("|".join((rf"(?:\p{{Script={COMMON}}})", *kinds)))

"""Added tokens, templates and lengths, by hand."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.kits.bpe import pipeline
from toksmith import Tokenizer, formats
from toksmith.errors import OptionError, SpecialTokenError, UnsupportedError
from toksmith.framing import (
    AddedToken,
    Framing,
    Padding,
    Template,
    TextPart,
    TokenPart,
    TrimOffsets,
    Truncation,
)
from toksmith.framing.added import find, search_order_matters
from toksmith.normalizers import Lowercase, Strip
from toksmith.pipeline import Pipeline
from toksmith.reference.rows import share_room, windows

CLS, SEP, MASK = 300, 301, 302
BERT = Template(
    (TokenPart(CLS), TextPart("A"), TokenPart(SEP)),
    (TokenPart(CLS), TextPart("A"), TokenPart(SEP), TextPart("B", 1), TokenPart(SEP, 1)),
)
ADDED = (AddedToken("[C]", CLS), AddedToken("[S]", SEP), AddedToken("[M]", MASK, lstrip=True))


def tokenizer(**options: object) -> Tokenizer:
    """Bytes by value, ``th`` 256, ``the`` 257, `` the`` 258, and a template as BERT's."""
    return Tokenizer(pipeline(framing=Framing(ADDED, template=BERT, **options)))  # type: ignore[arg-type]


def found(text: str, *tokens: AddedToken) -> list[tuple[str, int | None]]:
    by_literal = {token.content: token for token in tokens}
    data = text.encode()
    return [
        (data[start:end].decode(), token and token.id)
        for start, end, token in find(data, frozenset(by_literal), by_literal)
    ]


class TestAddedTokens:
    def test_longest_at_the_leftmost_place(self) -> None:
        tokens = (AddedToken("ab", 1), AddedToken("abc", 2), AddedToken("bcd", 3))
        assert found("xabcdab", *tokens) == [("x", None), ("abc", 2), ("d", None), ("ab", 1)]

    def test_white_space_is_taken(self) -> None:
        both = AddedToken("<m>", 1, lstrip=True, rstrip=True)
        assert found("a \u3000\t<m>\n\u2003b", both) == [
            *(("a", None), (" \u3000\t<m>\n\u2003", 1), ("b", None))
        ]
        # U+001C is white space to Python, but not to Unicode.
        assert found("\x1c<m>", both) == [("\x1c", None), ("<m>", 1)]
        # What the first took is not there for the second.
        assert found("<m> <m>", both) == [("<m> ", 1), ("<m>", 1)]

    def test_single_words(self) -> None:
        word = AddedToken("<m>", 1, single_word=True)
        assert found("<m>,<m> -<m>", word) == [
            *(("<m>", 1), (",", None), ("<m>", 1), (" -", None), ("<m>", 1))
        ]
        for text in ("a<m>", "<m>é", "_<m>", "<m>\u0301", "٣<m>", "\u200d<m>"):
            assert found(text, word) == [(text, None)]

    def test_does_the_order_of_search_matter(self) -> None:
        first, last = AddedToken("<a>", 1), AddedToken("<b>", 2, normalized=True)
        assert not search_order_matters([first, last])
        assert not search_order_matters([AddedToken("<a><b>", 1), AddedToken("<a>", 2)])
        assert search_order_matters([first, AddedToken("x<", 2, normalized=True)])
        assert search_order_matters([first, AddedToken("x<a>", 2, normalized=True)])
        assert search_order_matters([AddedToken("<a>", 1, lstrip=True), last])

    def test_in_normalized_text(self) -> None:
        tokens = (AddedToken("[X]", 300, normalized=True), AddedToken("[Y]", 301))
        plain = pipeline(framing=Framing(tokens))
        tok = Tokenizer(Pipeline(plain.model, plain.splitter, plain.framing, None, (Lowercase(),)))
        text = "A[x][X][y][Y]"
        y = [*b"[y]"]
        assert tok.encode(text, special="encode") == [97, 300, 300, *y, 301]
        assert tok.encode(text) == [*b"a[x][x][y][y]"]
        encoding = tok.encoding(text, special="encode")
        assert [tuple(span) for span in encoding.spans[:3]] == [(0, 1), (1, 4), (4, 7)]
        assert tok.encode("[x]", special={"[Y]"}) == [*b"[x]"]
        with pytest.raises(SpecialTokenError, match="the normalized text holds one of"):
            tok.encode("[x]", special="raise")
        assert tok.encode("[y]", special="raise") == y

    def test_a_literal_that_vanishes(self, tmp_path: Path) -> None:
        plain = pipeline(framing=Framing((AddedToken(" ", 300, normalized=True),)))
        stripped = replace(plain, normalizer=(Strip(),))
        message = "nothing is left of the added token ' ' when it is normalized"
        with pytest.raises(UnsupportedError, match=message):
            Tokenizer(stripped)
        path = tmp_path / "a.json"
        formats.write(stripped, path)
        with pytest.raises(UnsupportedError, match=f"^{re.escape(str(path))}: {message}$"):
            toksmith.load(path)
        with pytest.raises(UnsupportedError, match=f"^<data>: {message}$"):
            toksmith.loads(path.read_bytes())


class TestTemplates:
    def test_parts(self) -> None:
        assert (BERT.prefix, BERT.suffix, BERT.added(), BERT.added(pair=True)) == (
            *((CLS,), (SEP,), 2, 3),
        )
        assert Template.around([1], [2, 3]) == Template(
            (TokenPart(1), TextPart("A"), TokenPart(2), TokenPart(3)),
            (
                *(TokenPart(1), TextPart("A"), TokenPart(2), TokenPart(3)),
                *(TokenPart(1, 1), TextPart("B", 1), TokenPart(2, 1), TokenPart(3, 1)),
            ),
        )
        assert Framing(prefix=(1,)).template == Template.around([1], [])
        assert Framing().template == Template()

    @pytest.mark.parametrize("single", [(), (TokenPart(1),), (TextPart("A"), TextPart("B"))])
    def test_one_text_has_to_be_there(self, single: tuple[TextPart | TokenPart, ...]) -> None:
        with pytest.raises(OptionError, match="needs A alone"):
            Template(single)

    def test_either_a_template_or_its_sides(self) -> None:
        with pytest.raises(OptionError, match="give a template, or its prefix and suffix"):
            Framing(prefix=(1,), template=BERT)

    def test_encoding_a_pair(self) -> None:
        tok = tokenizer()
        assert tok.encode("the", add_special_tokens=True) == [CLS, 257, SEP]
        ids = [CLS, 257, SEP, 97, 258, SEP]
        assert tok.encode("the", add_special_tokens=True, pair="a the") == ids
        assert tok.encode("the", pair="a the") == [257, 97, 258]
        encoding = tok.encoding("the", add_special_tokens=True, pair="é the")
        assert encoding.ids == [CLS, 257, SEP, 259, 258, SEP]
        assert encoding.type_ids == [0, 0, 0, 1, 1, 1]
        assert encoding.sequence == [-1, 0, -1, 1, 1, -1]
        assert encoding.special == [True, False, True, False, False, True]
        assert encoding.spans.tolist() == [[0, 0], [0, 3], [3, 3], [0, 1], [1, 5], [5, 5]]
        assert encoding.byte_spans.tolist() == [[0, 0], [0, 3], [3, 3], [0, 2], [2, 6], [6, 6]]
        assert (encoding.text, encoding.pair) == ("the", "é the")
        assert encoding.char_to_token(2) == 1
        assert encoding.char_to_token(2, sequence=1) == 4
        assert encoding.char_to_token(3) is None
        assert encoding.token_to_chars(4) == (1, 5)
        assert encoding[3:5].sequence == [1, 1]

    def test_trimmed_spans(self) -> None:
        text = " the  the"
        spans = {
            None: [[0, 4], [4, 5], [5, 9]],
            TrimOffsets(add_prefix_space=False): [[1, 4], [5, 5], [6, 9]],
            TrimOffsets(): [[0, 4], [5, 5], [6, 9]],
        }
        for trim, expected in spans.items():
            encoding = tokenizer(trim_offsets=trim).encoding(text)
            assert encoding.spans.tolist() == expected
            assert encoding.byte_spans.tolist() == spans[None]


class TestLengths:
    def test_windows(self) -> None:
        assert windows(3, 4, 0, "right") == [(0, 3)]
        assert windows(8, 4, 0, "right") == [(0, 4), (4, 8)]
        assert windows(9, 4, 2, "right") == [(0, 4), (2, 6), (4, 8), (6, 9)]
        assert windows(9, 4, 2, "left") == [(5, 9), (3, 7), (1, 5), (0, 3)]

    @pytest.mark.parametrize(
        ("lengths", "limit", "expected"),
        [
            ([5], 9, [5]),
            ([15], 9, [9]),
            ([2, 15], 9, [2, 7]),
            ([15, 2], 9, [7, 2]),
            ([15, 8], 9, [5, 4]),
            ([8, 15], 9, [4, 5]),
            ([1, 1], 0, [0, 0]),
        ],
    )
    def test_the_longest_is_cut_first(
        self, lengths: list[int], limit: int, expected: list[int]
    ) -> None:
        assert share_room(lengths, Truncation(limit), 0) == expected
        assert share_room(lengths, Truncation(limit + 3), 3) == expected

    def test_only_one_is_cut(self) -> None:
        assert share_room([5, 9], Truncation(10, strategy="only_first"), 0) == [1, 9]
        assert share_room([5, 9], Truncation(10, strategy="only_second"), 0) == [5, 5]
        with pytest.raises(OptionError, match="cannot take 5 tokens off a text of 5"):
            share_room([5, 9], Truncation(9, strategy="only_first"), 0)
        with pytest.raises(OptionError, match="but only one text was given"):
            share_room([5], Truncation(3, strategy="only_second"), 0)
        with pytest.raises(OptionError, match="but the template has 3"):
            share_room([5], Truncation(2), 3)

    def test_padding(self) -> None:
        assert Padding().target(5) == 5
        assert Padding(multiple_of=4).target(5) == 8
        assert Padding(6, multiple_of=4).target(8) == 8
        with pytest.raises(OptionError, match="a row has 9 tokens, but padding makes rows of 8"):
            Padding(8).target(9)

    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            (lambda: Truncation(-1), "max_length is -1: use 0 or more"),
            (lambda: Truncation(5, stride=1.5), "stride is 1.5: use a whole number"),
            (lambda: Truncation(5, strategy="first"), "strategy is 'first': use 'longest_first'"),
            (lambda: Truncation(5, direction="up"), "direction is 'up': use 'left' or 'right'"),
            (lambda: Padding(direction="up"), "direction is 'up': use 'left' or 'right'"),
            (lambda: Padding(multiple_of=-2), "multiple_of is -2"),
        ],
    )
    def test_bad_lengths(self, make: object, reason: str) -> None:
        with pytest.raises(OptionError) as caught:
            make()  # type: ignore[operator]
        assert reason in str(caught.value)


class TestPrepare:
    def test_rows(self) -> None:
        inputs = tokenizer(padding=Padding()).prepare(["the", "a the"], padding=8)
        assert inputs.ids.tolist() == [
            [CLS, 257, SEP, 0, 0, 0, 0, 0],
            [CLS, 97, 258, SEP, 0, 0, 0, 0],
        ]
        assert inputs.attention_mask.tolist() == [[1] * 3 + [0] * 5, [1] * 4 + [0] * 4]
        assert inputs.special_tokens_mask.tolist() == [
            [1, 0, 1, 1, 1, 1, 1, 1],
            [1, 0, 0, 1, 1, 1, 1, 1],
        ]
        assert inputs.lengths.tolist() == [3, 4]
        assert inputs.document.tolist() == [0, 1]
        assert inputs.ids.dtype == inputs.type_ids.dtype == inputs.attention_mask.dtype == np.int64
        assert inputs.spans is None
        assert list(inputs.to_dict()) == ["input_ids", "attention_mask", "token_type_ids"]
        assert len(inputs.ids) == 2

    def test_padding_without_an_id_takes_the_padding_token(self) -> None:
        tok = Tokenizer(pipeline(framing=Framing.of({"<pad>": 300})))
        left = Padding(direction="left")
        assert tok.prepare(["p", "pq"], padding=left).ids.tolist() == [[300, 112], [112, 113]]
        assert tok.prepare(["a"], padding=Padding(2, id=0)).ids.tolist() == [[97, 0]]
        of_its_own = Framing((AddedToken("<pad>", 300),), padding=Padding(2))
        assert of_its_own.padding == Padding(2, id=300)
        assert Tokenizer(pipeline(framing=of_its_own)).prepare(["a"]).ids.tolist() == [[97, 300]]

    def test_padding_without_an_id_warns_if_there_is_no_padding_token(self) -> None:
        tok = Tokenizer(pipeline(framing=Framing()))
        with pytest.warns(UserWarning, match="this tokenizer has no padding token"):
            assert tok.prepare(["a"], padding=Padding(2)).ids.tolist() == [[97, 0]]

    def test_overflow_with_spans(self) -> None:
        inputs = tokenizer(padding=Padding()).prepare(
            ["pqrst", "x"], max_length=5, stride=1, overflow=True, spans=True
        )
        assert inputs.ids.tolist() == [
            [CLS, *b"pqr", SEP],
            [CLS, *b"rst", SEP],
            [CLS, *b"x", SEP, 0, 0],
        ]
        assert inputs.document.tolist() == [0, 0, 1]
        assert inputs.spans is not None
        assert inputs.spans[1].tolist() == [[0, 0], [2, 3], [3, 4], [4, 5], [0, 0]]
        assert inputs.sequence[2].tolist() == [-1, 0, -1, -1, -1]
        cut = tokenizer(padding=Padding()).prepare(["pqrst", "x"], max_length=5)
        assert cut.ids.tolist() == [[CLS, *b"pqr", SEP], [CLS, *b"x", SEP, 0, 0]]

    def test_pairs_on_the_left(self) -> None:
        tok = tokenizer(padding=Padding(direction="left", id=9, type_id=3))
        inputs = tok.prepare(["a", "the"], ["b", "xy"])
        assert inputs.ids.tolist() == [
            [9, CLS, 97, SEP, 98, SEP],
            [CLS, 257, SEP, *b"xy", SEP],
        ]
        assert inputs.type_ids.tolist() == [[3, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]]
        assert inputs.attention_mask.tolist() == [[0, 1, 1, 1, 1, 1], [1] * 6]

    def test_the_files_lengths_are_for_this_alone(self) -> None:
        tok = tokenizer(truncation=Truncation(4), padding=Padding(6, id=9))
        assert tok.prepare(["pqrst"]).ids.tolist() == [[CLS, *b"pq", SEP, 9, 9]]
        assert tok.prepare(["pqrst"], max_length=3).ids.tolist() == [[CLS, *b"p", SEP]]
        assert tok.prepare(["pqrst"], padding="longest").ids.tolist() == [[CLS, *b"pq", SEP]]
        assert tok.encode("pqrst", add_special_tokens=True) == [CLS, *b"pqrst", SEP]
        assert tok.count("pqrst") == 5

    def test_no_texts(self) -> None:
        inputs = tokenizer().prepare([])
        assert inputs.ids.shape == (0, 0)
        assert tokenizer().prepare([""]).ids.tolist() == [[CLS, SEP]]

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"texts": "one"}, "prepare takes a list of texts"),
            ({"texts": ["a"], "pairs": "one"}, "prepare takes a list of texts"),
            ({"texts": None}, "prepare takes a list of texts"),
            ({"texts": ["a"], "pairs": []}, "1 text, 0 pairs"),
            ({"texts": ["a"], "padding": "most"}, "padding is 'most'"),
            ({"texts": ["a"], "stride": 2}, "needs max_length="),
            ({"texts": ["a"], "max_length": -1}, "max_length is -1"),
            ({"texts": ["a", "abc"], "max_length": 1}, "text 0: max_length is 1, but the template"),
            ({"texts": ["pqr"], "padding": 4}, "a row has 5 tokens, but padding makes rows of 4"),
            (
                {"texts": ["a", "pqrs"], "max_length": 4, "stride": 2, "overflow": True},
                "text 1: a row has room for 2 tokens of a text, but the stride is 2",
            ),
        ],
    )
    def test_invalid_framings(self, options: dict[str, object], reason: str) -> None:
        with pytest.raises(OptionError) as caught:
            tokenizer().prepare(**options)  # type: ignore[arg-type]
        assert reason in str(caught.value)


def test_skipping_special_tokens() -> None:
    tok = tokenizer()
    ids = tok.encode("the é", add_special_tokens=True)
    assert tok.decode(ids) == "[C]the é[S]"
    assert tok.decode(ids, skip_special_tokens=True) == "the é"
    assert tok.decode_bytes(ids, skip_special_tokens=True) == "the é".encode()
    assert tok.decode_batch([ids, [SEP], []], skip_special_tokens=True) == ["the é", "", ""]
    decoder = tok.decoder(skip_special_tokens=True)
    assert "".join(decoder.decode(i) for i in ids) == "the é"
    with pytest.raises(toksmith.errors.UnknownTokenError, match="id 290 at position 1"):
        tok.decode([CLS, 290], skip_special_tokens=True)


def test_a_decoder_starts_anew_after_the_last_id() -> None:
    decoder = tokenizer().decoder()
    assert [decoder.decode(0xC3), decoder.decode(final=True), decoder.decode(97)] == [
        *("", "\ufffd", "a"),
    ]


def test_a_template_that_repeats_a_text(tmp_path: Path) -> None:
    plain = pipeline()
    both = (TextPart("A"), TokenPart(65), TextPart("A"))
    framing = Framing(template=Template(both, (TextPart("B", 1), TextPart("A"), TextPart("B", 1))))
    tok = Tokenizer(Pipeline(plain.model, plain.splitter, framing))
    once, other = Tokenizer(plain).encode("low"), Tokenizer(plain).encode("x")
    for add, expected in ((True, [*once, 65, *once]), (False, once * 2)):
        assert tok.encode("low", add_special_tokens=add) == expected
        assert tok.encode_array("low", add_special_tokens=add).tolist() == expected
        assert list(tok.encoding("low", add_special_tokens=add).ids) == expected
        found = tok.encode_batch(["low", ""], add_special_tokens=add).to_lists()
        assert found == [expected, [65] * add]
        (tmp_path / "text").write_text("low")
        assert tok.encode_file(tmp_path / "text", add_special_tokens=add).to_lists() == [expected]
        assert tok.prepare(["low"], add_special_tokens=add).ids.tolist() == [expected]
        pair = tok.encode("low", pair="x", add_special_tokens=add)
        assert pair == [*other, *once, *other]
    assert tok.count("low") == tok.count_batch(["low"]).tolist()[0] == 2 * len(once)
    tok.save(tmp_path / "a.json")
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    for add in (True, False):
        ids = theirs.encode("low", add_special_tokens=add).ids
        assert ids == tok.encode("low", add_special_tokens=add)


class TestSpellingsOfHuggingFace:
    """``truncation=`` and ``padding=`` as transformers has them."""

    def prepared(self, **options: object) -> list[list[int]]:
        ids: list[list[int]] = (
            tokenizer(padding=Padding(id=9)).prepare(["pqrst", "x"], **options).ids.tolist()  # type: ignore[arg-type]
        )
        return ids

    def test_truncation(self) -> None:
        short = [[CLS, *b"pq", SEP], [CLS, *b"x", SEP, 9]]
        for truncation in (True, None, "longest_first", "only_first"):
            assert self.prepared(truncation=truncation, max_length=4) == short
        for truncation in (False, "do_not_truncate"):
            whole = [[CLS, *b"pqrst", SEP], [CLS, *b"x", SEP, 9, 9, 9, 9]]
            assert self.prepared(truncation=truncation, max_length=4) == whole
        with pytest.raises(OptionError, match="truncation=True needs max_length="):
            self.prepared(truncation=True)
        with pytest.raises(OptionError, match="truncation is 'first': use True, False, a strategy"):
            self.prepared(truncation="first")

    def test_padding(self) -> None:
        longest = [[CLS, *b"pqrst", SEP], [CLS, *b"x", SEP, 9, 9, 9, 9]]
        for padding in (True, None, "longest", 7):
            assert self.prepared(padding=padding) == longest
        fixed = [[CLS, *b"pq", SEP], [CLS, *b"x", SEP, 9]]
        assert self.prepared(padding="max_length", max_length=4) == fixed
        same = tokenizer().prepare(["pq", "rs"], padding=False)
        assert same.ids.tolist() == [[CLS, *b"pq", SEP], [CLS, *b"rs", SEP]]
        with pytest.raises(OptionError, match="padding=False, but the rows have different lengths"):
            self.prepared(padding=False)
        with pytest.raises(OptionError, match='padding="max_length" needs max_length='):
            self.prepared(padding="max_length")
        with pytest.raises(OptionError, match="padding is 'left': use a length"):
            self.prepared(padding="left")

    def test_no_padding_token(self) -> None:
        tok = tokenizer()
        assert tok.prepare(["a", "b"]).ids.shape == (2, 3)  # nothing is filled, nothing is said
        with pytest.warns(UserWarning, match=r"no padding token: rows are padded with id 0 \(b'"):
            assert tok.prepare(["a", "bc"]).ids.tolist()[0][-1] == 0
        tok.prepare(["a", "bc"])  # said once
        tokenizer().prepare(["a", "bc"], padding=Padding(id=5))
        padded = tokenizer().with_special_tokens(["<pad>"])
        assert padded.prepare(["a", "bc"]).ids.tolist()[0][-1] == padded.token_id("<pad>")


class TestPreSplitTexts:
    def test_spans_are_those_of_the_words_joined(self) -> None:
        encoding = tokenizer().encode_words(["the", "", "thé"], add_special_tokens=True)
        assert encoding.text == "the  thé"
        assert encoding.words == [None, 0, 2, 2, None]
        assert encoding.spans.tolist() == [[0, 0], [0, 3], [5, 7], [7, 8], [8, 8]]
        assert encoding.byte_spans.tolist() == [[0, 0], [0, 3], [5, 7], [7, 9], [9, 9]]
        assert encoding[2:4].words == [2, 2]

    def test_a_text_is_no_list_of_words(self) -> None:
        with pytest.raises(OptionError, match=r"texts\[1\] is 'the': with pre_split=True each"):
            tokenizer().prepare([["the"], "the"], pre_split=True)  # type: ignore[list-item]
        with pytest.raises(OptionError, match="is 'the': with pre_split=True"):
            tokenizer().encode_words("the")
        with pytest.raises(OptionError, match=r"the words of texts\[1\] is 3: each must be a str"):
            tokenizer().encodings([["a"], [3]], pre_split=True)  # type: ignore[list-item]

    def test_no_texts(self) -> None:
        rows = tokenizer().prepare_ragged([], pre_split=True, spans=True)
        assert (len(rows), rows.lists(rows.ids), rows.span_lists()) == (0, [], [])
        assert repr(rows) == "<RaggedInputs: 0 rows, 0 tokens>"
        with pytest.raises(OptionError, match="call prepare_ragged with spans=True"):
            tokenizer().prepare_ragged([]).span_lists()


def test_arrays_that_are_made_later() -> None:
    """They are the same after pickling, copying and replacing."""
    tok = tokenizer()
    inputs = tok.prepare(["the", ""], padding=Padding(id=0))
    for other in (pickle.loads(pickle.dumps(inputs)), copy.deepcopy(inputs), replace(inputs)):
        assert other == inputs
        assert other.sequence.tolist() == [[-1, 0, -1], [-1, -1, -1]]
        assert other.special_tokens_mask.tolist() == [[1, 0, 1], [1, 1, 1]]
    with pytest.raises(AttributeError, match="Inputs has no attribute 'nothing'"):
        inputs.nothing  # noqa: B018
    rows = tok.prepare_ragged(["the", ""])
    assert pickle.loads(pickle.dumps(rows)) == rows
    assert rows.lists(rows.special_tokens_mask) == [[1, 0, 1], [1, 1]]
    assert rows.lists(rows.sequence) == [[-1, 0, -1], [-1, -1]]

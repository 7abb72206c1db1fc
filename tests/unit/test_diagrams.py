"""Diagrams of a chunk as data: merge trees, lattices, longest matches."""

from __future__ import annotations

import json

import pytest

from tests.kits.bpe import BYTES, HELLO_BPE
from tests.kits.character_bpe import merges
from tests.kits.pipelines import MODELS, TEXTS, WORDS, utf8
from toksmith._base.arrays import Span
from toksmith.errors import UnknownTokenError
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE, CharacterBPE, WordPiece
from toksmith.pipeline import Pipeline
from toksmith.show.diagram_html import tree_html
from toksmith.tokenizer import Tokenizer
from toksmith.trace.diagrams import Lattice, Match, Matches, MergeTree, Node
from toksmith.trace.explain import Explainer

HELLO = Tokenizer(Pipeline(HELLO_BPE))


def tree_of(text: str) -> MergeTree:
    (tree,) = HELLO.explain(text).diagrams
    assert isinstance(tree, MergeTree)
    return tree


class TestMergeTree:
    def test_nodes_are_in_the_order_of_merging(self) -> None:
        tree = tree_of("Hello")
        assert tree.nodes == (
            *(Node(bytes([byte]), byte) for byte in b"Hello"),
            Node(b"ll", 256, (2, 3), 0),
            Node(b"ell", 257, (1, 5), 1),
            Node(b"Hell", 258, (0, 6), 2),
        )
        assert (tree.leaves, tree.merges, tree.roots) == (5, 3, (7, 4))
        assert (tree.ids, tree.tokens, tree.whole) == ((258, 111), (b"Hell", b"o"), False)
        assert tree.depths == [0, 0, 0, 0, 0, 1, 2, 3]

    def test_each_step_can_be_shown(self) -> None:
        tree = tree_of("Hello")
        rows = [[tree.nodes[i].token.decode() for i in tree.at(step)] for step in range(4)]
        assert rows == [list("Hello"), ["H", "e", "ll", "o"], ["H", "ell", "o"], ["Hell", "o"]]
        assert [tree.step(place) for place in range(len(tree.nodes))] == [0] * 5 + [1, 2, 3]

    def test_a_whole_chunk_has_the_merges_that_come_to_the_same(self) -> None:
        model = BPE(HELLO_BPE.vocab, HELLO_BPE.merges, whole_chunk_first=True)
        (tree,) = Tokenizer(Pipeline(model)).explain("Hell").diagrams
        assert tree.whole
        assert tree.roots == (6,)
        without = BPE(HELLO_BPE.vocab, HELLO_BPE.merges[:2], whole_chunk_first=True)
        (leaf,) = Tokenizer(Pipeline(without)).explain("Hell").diagrams
        assert (leaf.whole, leaf.nodes, leaf.roots) == (True, (Node(b"Hell", 258),), (0,))

    def test_a_deep_tree_needs_no_recursion(self) -> None:
        chain = [b"y" + b"x" * size for size in range(1, 600)]
        rows = [[256 + rank - 1 if rank else ord("y"), ord("x"), 256 + rank] for rank in range(599)]
        model = BPE((*BYTES, *chain), rows)
        (tree,) = Tokenizer(Pipeline(model)).explain(chain[-1]).diagrams
        assert (max(tree.depths), tree.tokens) == (599, (chain[-1],))
        assert tree.at(598) == [len(tree.nodes) - 2, 599]
        assert "599 merges, too many on top of each other" in tree_html(tree)

    def test_sentencepiece_has_scores_and_takes_pieces_apart(self) -> None:
        (tree,) = Tokenizer(MODELS["sentencepiece-bpe"]).explain("abc").diagrams
        assert tree.by_score
        assert [(node.token, node.id, node.rank) for node in tree.nodes[3:]] == [
            (b"ab", 18, -6.0), (b"abc", 19, -5.0),
        ]  # fmt: skip
        assert (tree.roots, tree.tops) == ((3, 2), [4])
        assert tree.at(2) == [4]

    def test_a_text_falls_into_words(self) -> None:
        text = "ell Hell  ll"
        tree = tree_of(text)
        assert [part.text for part in tree.parts] == [b"ell", b" Hell", b"  ll"]
        ell, hell, ll = tree.parts
        assert ell.nodes == HELLO.explain("ell").diagrams[0].nodes
        assert (hell.ids, hell.spans, hell.roots) == ((32, 258), (Span(0, 1), Span(1, 5)), (0, 7))
        assert (ll.merges, [ll.nodes[i].token for i in ll.at(1)]) == (1, [b" ", b" ", b"ll"])
        assert sum(part.merges for part in tree.parts) == tree.merges
        assert tree_of("Hello").parts == [tree_of("Hello")]

    def test_added_tokens_are_one_node(self) -> None:
        framing = Framing((AddedToken("<x>", 300, special=False),))
        tok = Tokenizer(Pipeline(HELLO_BPE, framing=framing))
        _, added = tok.explain("a<x>").diagrams
        assert (added.whole, added.nodes) == (True, (Node(b"<x>", 300),))


class TestLattice:
    def test_all_pieces_and_the_two_best_ways(self) -> None:
        (lattice,) = Tokenizer(MODELS["unigram"]).explain("low").diagrams
        assert isinstance(lattice, Lattice)
        shown = {(lattice.text[e.start : e.end], e.score) for e in lattice.edges}
        assert shown == {
            (b"l", -10.5), (b"o", -10.75), (b"w", -11.0), (b"lo", -1.0), (b"low", -2.0),
        }  # fmt: skip
        ways = [[lattice.edges[i].end for i in way] for way in (lattice.best, lattice.other)]
        assert ways == [[3], [2, 3]]
        assert (lattice.score, lattice.other_score) == (-2.0, -12.0)
        assert lattice.places == (0, 1, 2, 3)

    def test_it_falls_into_parts_where_no_piece_reaches_across(self) -> None:
        (lattice,) = Tokenizer(MODELS["unigram"]).explain("lower low").diagrams
        assert [part.text for part in lattice.parts] == [b"low", b"er", b" ", b"low"]
        low, er, space, again = lattice.parts
        assert (low.edges, low.best, low.other) == (again.edges, again.best, again.other)
        assert (er.score, er.other_score, er.ids) == (-2.5, -21.25, (17,))
        assert (space.best, space.other, space.score) == ((0,), (), -21.25)
        assert sum(part.score for part in lattice.parts) == lattice.score

    def test_characters_of_several_bytes(self) -> None:
        (lattice,) = Tokenizer(MODELS["unigram"]).explain("é本").diagrams
        assert lattice.places == (0, 2, 5)
        assert [part.text.decode() for part in lattice.parts] == ["é本"]  # one unknown token
        (lattice,) = Tokenizer(MODELS["unigram"]).explain("éa本").diagrams
        assert [(part.text.decode(), part.ids) for part in lattice.parts] == [
            ("é", (0,)), ("a", (3,)), ("本", (0,)),
        ]  # fmt: skip


class TestMatches:
    def test_candidates_that_are_too_long(self) -> None:
        (found,) = Tokenizer(MODELS["wordpiece"]).explain("lower").diagrams
        assert found == Matches(
            b"lower",
            (1, 4),
            (b"low", b"##er"),
            (Match(0, 3, b"low", 1, (b"lower", b"lowe")), Match(3, 5, b"##er", 4, ())),
        )

    def test_given_up(self) -> None:
        tok = Tokenizer(Pipeline(WordPiece((b"[UNK]", b"a"), 0, max_characters=3), WORDS))
        no_match, too_long = tok.explain("ab aaaa").diagrams
        assert no_match.given_up == "no match"
        assert no_match.matches[-1] == Match(1, 2, None, None, (b"##b",))
        assert (too_long.given_up, too_long.matches) == ("too long", (Match(0, 4, None, None, ()),))

    def test_longest_match_tries_every_possible_length(self) -> None:
        (found,) = Tokenizer(MODELS["longest-match"]).explain("élow").diagrams
        unknown, low = found.matches
        assert (unknown.token, unknown.start, unknown.end) == (None, 0, 2)
        assert unknown.tried == ("élow".encode(), "élo".encode(), "él".encode(), "é".encode())
        assert (low.token, low.id, low.tried) == (b"low", 11, ())


@pytest.mark.parametrize("kind", MODELS)
def test_every_diagram_agrees_with_the_tokens(kind: str) -> None:
    tok = Tokenizer(MODELS[kind])
    for text in TEXTS:
        explanation = tok.explain(text)
        for chunk, drawn in zip(explanation.chunks, explanation.diagrams, strict=True):
            assert (drawn.text, drawn.ids) == (chunk.text, chunk.ids)
            assert json.loads(json.dumps(drawn.to_dict()))["ids"] == list(chunk.ids)
            if isinstance(drawn, Lattice):
                way = [drawn.edges[i] for i in drawn.best]
                assert b"".join(drawn.text[e.start : e.end] for e in way) == drawn.text
                assert "".join(p.text.decode() for p in drawn.parts) == drawn.text.decode()
        assert explanation.ids == tok.encode(text)


class TestTokens:
    def test_of_merges(self) -> None:
        explanation = HELLO.explain_token(257)
        assert explanation.reached
        assert explanation.diagrams[0].nodes[-1] == Node(b"ell", 257, (0, 3), 1)
        assert HELLO.explain_token("ell") == HELLO.explain_token(b"ell") == explanation

    def test_that_cannot_be_reached(self) -> None:
        tok = Tokenizer(Pipeline(BPE((*HELLO_BPE.vocab, b"ol"), HELLO_BPE.merges)))
        explanation = tok.explain_token(259)
        assert not explanation.reached
        assert explanation.ids == [111, 108]
        assert str(explanation).endswith("ol 259 does not come out of its own bytes")

    def test_inside_words(self) -> None:
        found = Tokenizer(MODELS["wordpiece"]).explain_token("##er")
        assert found.reached
        assert found.diagrams[0].matches == (Match(0, 2, b"##er", 4, ()),)

    def test_characters_that_are_spelled_by_their_place(self) -> None:
        vocab = ("a", "##a", "##b", "##a</w>", "##ba</w>", "##ab", "a</w>")
        rows = merges(vocab, "##b ##a</w>", "##a ##b", prefix="##")
        model = CharacterBPE(utf8(vocab), rows, continuing_prefix="##", word_suffix="</w>")
        tok = Tokenizer(Pipeline(model, WORDS))
        assert all(tok.explain_token(token).reached for token in vocab if token != "##b")
        ends = tok.explain_token("##ba</w>").diagrams[0]
        assert [node.token for node in ends.nodes] == [b"##b", b"##a</w>", b"##ba</w>"]
        inside = tok.explain_token("##ab").diagrams[0]
        assert [node.token for node in inside.nodes] == [b"##a", b"##b", b"##ab"]

    def test_special_and_missing(self) -> None:
        tok = Tokenizer(Pipeline(HELLO_BPE, framing=Framing.of({"<s>": 300})))
        assert tok.explain_token(300).diagrams[0].nodes == (Node(b"<s>", 300),)
        assert Explainer(MODELS["sentencepiece-bpe"]).token(1).reached  # a control piece
        for missing in (299, 301):
            with pytest.raises(UnknownTokenError, match="no token has id"):
                tok.explain_token(missing)

"""Players as text: reading, quoting, and what is said about mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given as with_examples
from hypothesis import strategies as st

from rookery import BadInput
from rookery.arena.players import FORMS
from rookery.arena.texts import Given, quoted_value, quoted_word, read_text, split_items, unquoted

PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("random", "random"),
        ("  random ", "random"),
        ("alphabeta:depth=4", "alphabeta:depth=4"),
        ("alphabeta:time=0.50, depth = 04", "alphabeta:depth=4,time=0.5"),
        ("mcts:sims=400,time=2.0", "mcts:sims=400,time=2"),
        ("mcts:time=1e-2", "mcts:time=0.01"),
        ("uci:stockfish", "uci:stockfish"),
        ("uci: stockfish  --threads 1 ,time=0.1", "uci:stockfish --threads 1,time=0.1"),
        ("uci:'/opt/my engines/fish, the',depth=3", "uci:'/opt/my engines/fish, the',depth=3"),
        ('uci:/opt/my\\ engines/fish "a b"', "uci:'/opt/my engines/fish' 'a b'"),
        ("uci:fish\\,red", "uci:'fish,red'"),
        ("uci:fish,grace=5,start=30", "uci:fish"),
        ("uci:fish,option.Skill Level=3,time=1", "uci:fish,time=1,option.Skill Level=3"),
        ('uci:fish,option.Path="/a,b"', "uci:fish,option.Path='/a,b'"),
        ("net:runs/pylos_v5,sims=200", "net:runs/pylos_v5,sims=200"),
        ("net:zoo:pylos, prove=true ,cache=0", "net:zoo:pylos,prove=true"),
        ("net:my runs/a.pth", "net:'my runs/a.pth'"),
        ("net:'a, b.pth',sims=9", "net:'a, b.pth',sims=9"),
        ("gomocup:./pbrain,info.thread_num=2,memory=64", "gomocup:./pbrain,memory=64,info.thread_num=2"),
    ],
)
def test_a_text_has_one_canonical_spelling_which_says_the_same(text, canonical):
    given = read_text(text, FORMS)
    assert given.text == canonical
    assert read_text(canonical, FORMS).text == canonical
    assert (given.command, given.extras) == (read_text(canonical, FORMS).command, read_text(canonical, FORMS).extras)


def test_words_and_values_come_out_without_their_quotes():
    given = read_text("""uci:"/my fish" 'it''s' a\\,b,time=3,option.Path='x, "y"',option.Name=It's me's""", FORMS)
    assert given.command == ("/my fish", "its", "a,b")
    assert given.extras == {"Path": 'x, "y"', "Name": "Its mes"}
    assert given.options == {"time": 3.0}
    assert [given.value(name) for name in ("time", "depth", "grace")] == [3.0, None, 5]


@with_examples(st.lists(PRINTABLE, min_size=1), PRINTABLE)
def test_any_command_and_value_can_be_written(words, value):
    words = [word for word in words if word.strip()] or ["x"]
    value = value.strip() or "x"
    text = Given(FORMS["uci"], command=tuple(words), options={"depth": 3}, extras={"Name": value}).text
    read = read_text(text, FORMS)
    assert (read.command, read.extras, read.options) == (tuple(words), {"Name": value}, {"depth": 3})
    assert unquoted(quoted_value(value)) == value
    assert split_items(f"{quoted_word(words[0])},{quoted_value(value)}") == [quoted_word(words[0]), quoted_value(value)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "a player is given by its text, like random or mcts:sims=400, not by ''"),
        (None, "not by None"),
        ("mtcs:sims=3", "player 'mtcs:sims=3': there is no kind 'mtcs'; did you mean mcts\\? kinds are random, greedy"),
        ("stockfish", "there is no kind 'stockfish'; kinds are random"),
        ("zoo:gomoku15", "zoo:NAME names a network; who searches with it is net:zoo:gomoku15"),
        ("nets:runs/pylos", "there is no kind 'nets'; did you mean net"),
        ("Random", "there is no kind 'Random'; did you mean random"),
        (
            "alphabeta:dept=4",
            "alphabeta has no option 'dept'; did you mean depth\\? its options are depth, nodes, time",
        ),
        ("random:seed=4", "random has no option 'seed'; its options are none"),
        ("alphabeta:depth=0", "option depth must be a whole number in 1..400, not '0'"),
        ("alphabeta:depth=four", "option depth must be a whole number in 1..400, not 'four'"),
        ("alphabeta:depth=4.5", "option depth must be a whole number in 1..400, not '4.5'"),
        ("alphabeta:depth=²", "option depth must be a whole number"),
        ("advanced:time=nan", "option time must be a number in 0.001..86400, not 'nan'"),
        ("advanced:time=1e999", "option time must be a number in 0.001..86400"),
        ("advanced:time=-1", "option time must be a number in 0.001..86400, not '-1'"),
        ("advanced:depth=3,depth=4", "option depth is given twice"),
        ("uci:fish,option.Hash=1,option.hash=2", "option option.hash is given twice"),
        ("alphabeta:", "'' should read option=value"),
        ("alphabeta:depth", "'depth' should read option=value"),
        ("alphabeta:depth=", "'depth=' should read option=value"),
        ("alphabeta:depth=4,", "'' should read option=value"),
        ("alphabeta:depth='4", '"\'" in "depth=\'4" has no counterpart'),
        ("uci:fish\\", "has no counterpart"),
        ("uci", "uci needs a command behind a colon, like uci:./engine"),
        ("uci: ,time=3", "uci needs a command"),
        ("uci:''", "uci needs a command"),
        (
            "uci:fish,Threads=1",
            "uci has no option 'Threads'; its options are .* option.NAME=VALUE for the engine's own",
        ),
        ("uci:fish,option.=1", "uci has no option 'option.'"),
        ("uci:fish,option.Name=a\nquit", "it holds a control sign"),
        ("net:", "net needs a file behind a colon, like net:checkpoint_01000.pth"),
        ("net:'',sims=3", "net needs a file"),
        ("oracle", "oracle needs a player behind a colon"),
        ("oracle:", "oracle needs a player behind a colon"),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(text, complaint):
    with pytest.raises(BadInput, match=complaint):
        read_text(text, FORMS)

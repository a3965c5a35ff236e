"""Players made from their text: which there are, what they fit, and that they do not see what is hidden."""

from __future__ import annotations

import re

import numpy as np
import pytest

from arena.scripted import command, turn_at
from games.slow_texas42 import random_hand
from games.test_texas42_hidden import other_world
from rookery import BadInput, load
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import turn_of
from rookery.arena.players import KINDS, make_player
from rookery.arena.searching import SearchPlayer
from rookery.arena.tables import gains_from_many
from rookery.arena.texts import Option
from support import ROOT

EXAMPLES = [
    kind.example
    .replace("stockfish", command("uci_good"))
    .replace("./pbrain-rapfi", command("gomocup_good"))
    for kind in KINDS.values()
]  # fmt: skip
HOME = {"uci": "chess", "gomocup": "gomoku", "baseline": "gomoku", "advanced": "gomoku", "oracle": "texas42"}


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_name_of_a_player_makes_the_same_player_again(text):
    game = load(HOME.get(text.partition(":")[0], "pylos"))
    player = make_player(text, game)
    again = make_player(player.name, game)
    assert player.name == again.name == text
    assert type(player) is type(again)
    assert player.sees_all == text.startswith("oracle:")
    assert (getattr(player, "settings", None), getattr(player, "limits", None)) == (
        getattr(again, "settings", None),
        getattr(again, "limits", None),
    )
    player.close()


def test_options_reach_the_search_as_limits_and_settings():
    player = make_player("mcts:sims=100,time=2,c=1.5", load("pylos"))
    assert isinstance(player, SearchPlayer)
    assert (player.limits.nodes, player.limits.seconds, player.limits.depth) == (100, 2.0, None)
    assert player.settings == {"c": 1.5}
    assert make_player("mcts", load("pylos")).settings == {}


@pytest.mark.parametrize(
    ("text", "spec", "complaint"),
    [
        (
            "baseline:depth=2",
            "chess",
            "player 'baseline:depth=2' does not fit chess: baseline plays gomoku:rule=freestyle only",
        ),
        (
            "advanced",
            "domineering:rows=4,cols=4",
            "does not fit domineering:rows=4,cols=4: advanced plays gomoku:rule=freestyle only",
        ),
        ("gomocup:true", "pylos", "does not fit pylos: gomocup plays gomoku only"),
        ("uci:true", "gomoku", "uci plays chess only"),
        ("mcts:sims=9", "texas42", "look at what is hidden; a player that may do so is named oracle:mcts:sims=9"),
        ("greedy", "texas42", "named oracle:greedy"),
        ("alphabeta", "texas42:auction=redeal", "named oracle:alphabeta"),
        ("oracle:mcts:sims=9", "chess", "'oracle:mcts:sims=9' does not fit chess: nothing is hidden in it; write mcts"),
        ("oracle:oracle:random", "texas42", "an oracle inside an oracle sees no more"),
        ("oracle:mtcs", "texas42", "player 'oracle:mtcs': player 'mtcs': there is no kind 'mtcs'; did you mean mcts"),
        ("baseline", "gomoku:rule=renju", "does not fit gomoku:rule=renju: baseline plays gomoku:rule=freestyle only"),
        ("advanced", "gomoku:rule=caro", "advanced plays gomoku:rule=freestyle only"),
        ("oracle:uci:true", "texas42", "uci plays chess only"),
        ("gomocup:true,info.rule=1", "gomoku", "info.rule is told to the engine anyway"),
    ],
)
def test_a_player_that_does_not_fit_is_refused(text, spec, complaint):
    with pytest.raises(BadInput, match=complaint):
        make_player(text, load(spec))


SEARCHES = [name for name, kind in KINDS.items() if kind.looks]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_takes_all_that_its_players_may_set(name):
    game = load("gomoku:size=7" if KINDS[name].game else "domineering:rows=4,cols=4")
    values = {"time": 1000}  # of the limits another one ends the search
    options = [f"{option.name}={values.get(option.name, max(1, option.least))}" for option in KINDS[name].form.options]
    player = make_player(f"{name}:{','.join(options)}" if options else name, game)
    assert isinstance(player, SearchPlayer)
    position = game.start()
    position.play(int(position.legal()[3]))
    assert player.choose(turn_at(position)).action in position.legal()


def test_a_match_of_searches_does_not_depend_on_how_many_threads_play_it():
    game = load("domineering:rows=4,cols=4")

    def moves(first, second, threads):
        settings = MatchSettings(games=4, threads=threads, seed=5)
        match = play_match(game, lambda: make_player(first, game), lambda: make_player(second, game), settings)
        assert set(match.reasons) == {"end by the rules"}
        return [match.records[number].actions for number in range(4)]

    for first, second in (("mcts:sims=30", "rave:sims=30"), ("alphabeta:depth=2", "greedy")):
        assert moves(first, second, threads=1) == moves(first, second, threads=3)


# ---- who sees what -------------------------------------------------------------------------------


def test_only_an_oracle_is_handed_the_hidden_hands():
    game = load("texas42")
    position = game.start(3)
    for text, seen in (("random", position.seen_by(0)), ("oracle:random", position)):
        turn = turn_of(make_player(text, game), position, position, (), seed=1)
        assert turn.position.text() == turn.start.text() == seen.text()


def test_an_oracle_chooses_for_many_only_where_its_player_does():
    game = load("texas42")
    for text in ("random", "greedy", "mcts:sims=9"):
        assert not gains_from_many(make_player(f"oracle:{text}", game))


def fitting_texts(game):
    """List the examples of all players without an oracle that fit a game and need nobody at the terminal."""
    for text in EXAMPLES:
        try:
            player = make_player(text, game)
        except BadInput:
            continue
        if not player.sees_all and text != "human":
            yield text


@pytest.mark.parametrize("seed", range(4))
def test_permuting_hidden_hands_changes_no_choice(seed):
    game, rng = load("texas42"), np.random.default_rng(seed)
    hands, declaration, leader, choices = random_hand(rng)
    players = [make_player(text, game) for text in fitting_texts(game)]
    assert players
    start = game.set_up(hands, declaration, leader)
    position, moves, differing = start.copy(), [], 0
    for choice in choices:
        other = other_world(position, position.mover, rng)
        differing += other.text() != position.text()
        anew = game.set_up([list(map(int, hand)) for hand in other.state["tiles"]], declaration, leader)
        for player in players:
            # slots of a hidden hand would tell of the rest of it: what they are must not matter either
            mine = player.choose(turn_of(player, start, position, moves, seed=seed)).action
            theirs = player.choose(turn_of(player, anew, other, moves[::-1], seed=seed)).action
            assert mine == theirs
        legal = position.legal()
        moves.append(int(legal[choice % len(legal)]))
        position.play(moves[-1])
    assert differing > 10


# ---- random --------------------------------------------------------------------------------------


def test_random_play_is_the_same_for_one_seed_and_takes_every_move():
    position, player = load("domineering:rows=3,cols=3").start(), make_player("random", load("domineering"))
    chosen = [player.choose(turn_at(position, seed=seed)).action for seed in range(200)]
    assert chosen == [player.choose(turn_at(position, seed=seed)).action for seed in range(200)]
    assert set(chosen) == {int(action) for action in position.legal()}
    assert min(chosen.count(action) for action in set(chosen)) > 15  # of 33 expected; below that once in 10,000


# ---- the page ------------------------------------------------------------------------------------


def rows_of_kinds():
    """Write the rows of the page's table of kinds."""
    for kind in KINDS.values():
        form = kind.form
        options = [f"`{option.name}`" for option in form.options]
        options += [f"`{form.prefix}NAME`"] if form.prefix else []
        yield f"| `{kind.example}` | {kind.summary} | {kind.plays or 'any'} | {', '.join(options) or '-'} |"


def rows_of_options():
    """Write the rows of the page's table of options."""
    kinds: dict[Option, list[str]] = {}
    for name, kind in KINDS.items():
        for option in kind.form.options:
            kinds.setdefault(option, []).append(name)
    for option, names in sorted(kinds.items(), key=lambda pair: (pair[0].name, pair[1])):
        default = "-" if option.default is None else option.default
        yield f"| `{option.name}` | {', '.join(names)} | {option.meaning} | {option.allowed} | {default} |"


def test_the_page_lists_every_kind_and_option_and_no_others():
    page = (ROOT / "docs" / "players.md").read_text()
    tables = re.findall(r"(?:^\| `.*\n)+", page, re.M)
    assert tables[0].splitlines() == list(rows_of_kinds())
    assert tables[1].splitlines() == list(rows_of_options())

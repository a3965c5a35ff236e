"""Players made from their text: which there are, what they fit, and that they do not see what is hidden."""

from __future__ import annotations

import re

import numpy as np
import pytest

from arena.scripted import command, random_lc0_network, random_network, turn_at
from games.slow_texas42 import random_hand
from games.test_texas42_hidden import other_world
from rookery import BadInput, load
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.player import turn_of, turn_seed
from rookery.arena.players import KINDS, TREE_OPTIONS, make_player
from rookery.arena.searching import Analyst, SearchPlayer
from rookery.arena.tables import gains_from_many
from rookery.arena.texts import Option, value_text
from rookery.nets.configs import TRANSCRIPTS
from rookery.search import trees
from rookery.search.tree_settings import URGENCIES, TreeSettings
from support import CONNECT_FOUR, ROOT, random_walk

EXAMPLES = [
    kind.example
    .replace("stockfish", command("uci_good"))
    .replace("./pbrain-rapfi", command("gomocup_good"))
    .replace("worlds=50", "worlds=4")
    .replace("runs/pylos_v5", random_network("pylos", "rich"))
    .replace("network.pb.gz", random_lc0_network())
    .replace("network.safetensors", random_network("texas42", "known", config=TRANSCRIPTS["64x2"]))
    for kind in KINDS.values()
]  # fmt: skip
HOME = {"uci": "chess", "gomocup": "gomoku", "baseline": "gomoku", "advanced": "gomoku", "oracle": "texas42"}
HOME |= {"bidder": "texas42", "eq": "texas42", "heuristic": "texas42", "stage2": "texas42", "lc0": "chess"}


@pytest.mark.parametrize("text", EXAMPLES, ids=[text.partition(":")[0] for text in EXAMPLES])
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
        ("eq:worlds=9", "pylos", "player 'eq:worlds=9' does not fit pylos: eq plays texas42 only"),
        ("heuristic", "chess", "heuristic plays texas42 only"),
        ("exact", "texas42", "named oracle:exact"),
        ("oracle:exact", "gomoku", "nothing is hidden in it"),
        ("exact", "gomoku", "exact plays texas42 only"),
        ("eq:tau=2", "texas42", "tau and mix say how deals are weighed by the last plays: name these too"),
        ("gomocup:true,info.rule=1", "gomoku", "info.rule is told to the engine anyway"),
    ],
)
def test_a_player_that_does_not_fit_is_refused(text, spec, complaint):
    with pytest.raises(BadInput, match=complaint):
        make_player(text, load(spec))


def test_a_progressive_player_looks_ahead_by_the_number_of_legal_moves():
    game = load("domineering")
    walk = [position.copy() for position, action in random_walk(game, 0) if action is not None]
    player, shallow = (make_player(f"alphabeta:progressive=true{more}", game) for more in ("", ",depth=2"))
    for depth, (least, most) in enumerate(((90, 100), (35, 60), (10, 34)), start=1):
        position = next(position for position in walk if least <= len(position.legal()) <= most)
        assert player.analyse(turn_at(position)).depth == depth
        assert shallow.analyse(turn_at(position)).depth == min(2, depth)
    assert player.name == "alphabeta:progressive=true"
    assert make_player("alphabeta:progressive=false", game).name == "alphabeta"


def some_value(option):
    """Write a value of an option that is small, and not the usual one if that is off."""
    texts = {bool: "true", str: option.words[-1] if option.words else ""}
    return texts.get(option.kind, value_text(max(1, option.least)))


SEARCHES = [name for name, kind in KINDS.items() if kind.looks and kind.game != "texas42"]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_takes_all_that_its_players_may_set(name):
    game = load("gomoku:size=7" if KINDS[name].game else "domineering:rows=4,cols=4")
    # another limit ends the search; noise does not go with Gumbel search, nor fours with Domineering
    values = {"time": "1000", "noise": "0", "vcf": "none"}
    options = [f"{option.name}={values.get(option.name) or some_value(option)}" for option in KINDS[name].form.options]
    if KINDS[name].form.argument == "FILE":
        options = [random_network(game.spec, "planes"), *options]
    player = make_player(f"{name}:{','.join(options)}" if options else name, game)
    assert isinstance(player, Analyst)
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


# ---- tree search ---------------------------------------------------------------------------------

TREE_TEXTS = {
    "leaves": "3", "c": "0.7", "c_factor": "1.25", "c_base": "500", "urgency": "reduced", "reduction": "0.4",
    "discount": "0.9", "prove": "true", "noise": "0.25", "alpha": "0.03", "temperature": "0.5",
    "temperature_plies": "6", "gumbel": "5", "gumbel_scale": "0.5", "value_visits": "20", "value_scale": "0.1",
    "early_stop": "true",
}  # fmt: skip


def test_every_setting_of_tree_search_is_an_option_or_told_with_each_search():
    told = {"simulations", "seed", "policy", "policy_temperature"} | {"forced", "prune"}  # the last two for learning
    assert {option.name for option in TREE_OPTIONS} == set(TREE_TEXTS) == set(vars(TreeSettings())) - told


@pytest.fixture
def settings_seen(monkeypatch):
    """The settings with which trees are made."""
    seen = []

    def noted(game, settings, *more, **named):
        seen.append(settings)
        return trees_made(game, settings, *more, **named)

    trees_made = trees.Trees
    monkeypatch.setattr(trees, "Trees", noted)
    return seen


@pytest.mark.parametrize(("name", "value"), TREE_TEXTS.items())
def test_an_option_of_tree_search_arrives_in_its_settings_and_in_the_name(name, value, settings_seen):
    game = load(CONNECT_FOUR)
    player = make_player(f"mcts:{name}={value},sims=8", game)
    assert player.name == f"mcts:sims=8,{name}={value}"
    player.choose(turn_at(game.start(), seed=33))
    arrived = getattr(settings_seen[-1], name)
    assert value_text(arrived) == value
    assert arrived != getattr(TreeSettings(), name)
    assert settings_seen[-1] == TreeSettings(simulations=8, seed=33, **{name: arrived})


def test_options_at_their_defaults_are_not_named():
    usual = ",".join(f"{option.name}={value_text(option.default)}" for option in TREE_OPTIONS)
    assert make_player(f"mcts:sims=8,{usual}", load("pylos")).name == "mcts:sims=8"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("c=-1", "option c must be a number in 0..1000000, not '-1'"),
        ("urgency=none", f"option urgency must be one of {', '.join(URGENCIES)}, not 'none'"),
        ("prove=1", "option prove must be true or false, not '1'"),
        ("leaves=0", "option leaves must be a whole number in 1..1024, not '0'"),
        ("noise=1.01", "option noise must be a number in 0..1, not '1.01'"),
        ("gumbel=2.5", "option gumbel must be a whole number in 0..32768, not '2.5'"),
        ("discount=0", "option discount must be a number in 0.01..1, not '0'"),
        ("sims=9,gumbel=4,noise=0.1", "gumbel and noise exclude each other"),
        ("time=1,gumbel=4", "gumbel shares out a known number of simulations: name them too, as in sims=400"),
        ("policy=weights", "mcts has no option 'policy'"),
        ("seed=3", "mcts has no option 'seed'"),
    ],
)
def test_a_wrong_option_of_tree_search_is_named(options, complaint):
    with pytest.raises(BadInput, match=f"player 'mcts:{re.escape(options)}': {re.escape(complaint)}"):
        make_player(f"mcts:{options}", load("pylos"))


def four_in_a_row_next():
    """Return a position of connect four in which three of the mover's discs stand in a column, and the way there."""
    position, moves = load(CONNECT_FOUR).start(), (3, 2, 3, 2, 3, 2)
    for move in moves:
        position.play(move)
    return position, moves


def test_only_a_player_that_proves_says_so():
    position, moves = four_in_a_row_next()
    found = {
        text: make_player(text, position.game).choose(turn_at(position, moves)).analysis
        for text in ("mcts:sims=40", "mcts:sims=40,prove=true,early_stop=true")
    }
    plain, proving = found.values()
    assert (plain.proven, plain.nodes) == (False, 40)
    assert (proving.proven, proving.value, proving.action) == (True, 1.0, 3)
    assert proving.nodes < 40


@pytest.mark.parametrize("considered", [1, 3, 7])
def test_a_gumbel_player_looks_at_as_many_moves_as_it_says(considered):
    game = load(CONNECT_FOUR)
    player = make_player(f"mcts:sims=28,gumbel={considered}", game)
    lines = player.choose(turn_at(game.start())).analysis.lines
    assert sum(line.visits > 0 for line in lines) == considered


def test_noise_differs_between_the_games_of_a_match_and_repeats_by_its_seed():
    game = load(CONNECT_FOUR)

    def priors(seed, number):
        player = make_player("mcts:sims=4,noise=0.5", game)
        lines = player.choose(turn_at(game.start(), seed=turn_seed(seed, number, 0))).analysis.lines
        return tuple(line.prior for line in sorted(lines, key=lambda line: line.action))

    assert priors(1, 0) == priors(1, 0)
    assert len({priors(seed, number) for seed in (1, 2) for number in range(5)}) == 10


def test_moves_are_drawn_until_the_ply_of_the_game_that_the_text_says():
    position, moves = four_in_a_row_next()

    def takes_the_most_visited(plies, seed):
        player = make_player(f"mcts:sims=30,temperature=20,temperature_plies={plies}", position.game)
        found = player.choose(turn_at(position, moves, seed=seed)).analysis
        return found.action == found.lines[0].action

    assert all(takes_the_most_visited(len(moves), seed) for seed in range(20))
    assert not all(takes_the_most_visited(len(moves) + 1, seed) for seed in range(20))


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
        default = "-" if option.default is None else value_text(option.default)
        yield f"| `{option.name}` | {', '.join(names)} | {option.meaning} | {option.allowed} | {default} |"


def test_the_page_lists_every_kind_and_option_and_no_others():
    page = (ROOT / "docs" / "players.md").read_text()
    tables = re.findall(r"(?:^\| `.*\n)+", page, re.M)
    assert tables[0].splitlines() == list(rows_of_kinds())
    assert tables[1].splitlines() == list(rows_of_options())

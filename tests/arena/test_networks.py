"""Players that search with a network: finding it, fitting it to a game, and playing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from arena.scripted import random_network, turn_at
from nets.originals import V5_SHAPE, checkpoint, v3, v4, v5
from nets.samples import worn
from rookery import BadInput, load
from rookery.arena import networks
from rookery.arena.matches import MatchSettings, play_match
from rookery.arena.network_player import NetworkPlayer
from rookery.arena.players import make_player
from rookery.arena.tables import gains_from_many
from rookery.nets import zoo as zoo_files
from rookery.nets.configs import PerceptronConfig, TowerConfig, TransformerConfig
from rookery.nets.files import About, load_network, save_network
from rookery.nets.residual import build
from rookery.nets.tower import resized
from rookery.search.analysis import Limits
from rookery.search.trees import search
from support import CONNECT_FOUR, run_rookery

GREEDY = "pylos:removal=greedy"


def moves_of(game, first, second, games=2, **more):
    """Play a short match; return its score and the moves of its games."""
    settings = MatchSettings(games=games, seed=3, most_plies=40, **more)
    match = play_match(game, lambda: make_player(first, game), lambda: make_player(second, game), settings)
    assert set(match.reasons) <= {"end by the rules", "limit of 40 plies"}, match.reasons
    return match.score, [match.records[number].actions for number in sorted(match.records)]


# ---- which network a text names ------------------------------------------------------------------


def new_run(folder: Path, entries: list[dict[str, object]]) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"checkpoints": entries}))
    for entry in entries:
        shutil.copy(random_network("pylos", "rich"), folder / str(entry["file"]))
    return folder


def test_a_run_stands_for_its_newest_checkpoint_and_the_player_is_named_by_it(tmp_path):
    steps = {"checkpoint_90000.pth": 90000, "checkpoint_100000.pth": 100000, "checkpoint_01000.pth": 1000}
    run = new_run(tmp_path / "run", [{"file": file, "step": step, "label": "x"} for file, step in steps.items()])
    player = make_player(f"net:{run},sims=8", load("pylos"))
    assert player.name == f"net:{run}/checkpoint_100000.pth,sims=8"
    assert make_player(player.name, load("pylos")).name == player.name


@pytest.mark.parametrize(
    ("manifest", "complaint"),
    [
        (None, "no manifest.json"),
        ("{", "does not list checkpoints"),
        ("[]", "does not list checkpoints"),
        ('{"checkpoints": [{"file": "a.pth"}]}', "does not list checkpoints"),
        ('{"checkpoints": []}', "no checkpoints yet"),
        ('{"checkpoints": [{"file": "../a.pth", "step": 1}]}', "own folder"),
        ('{"checkpoints": [{"file": "/etc/passwd", "step": 1}]}', "own folder"),
        ('{"checkpoints": [{"file": "a.pth", "step": "1"}]}', "own folder"),
        ('{"checkpoints": [{"file": "gone.pth", "step": 1}]}', r"gone\.pth' is not there"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(manifest, complaint, tmp_path):
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(BadInput, match=complaint):
        make_player(f"net:{tmp_path}", load("pylos"))


def test_a_network_of_the_zoo_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo_files, "ZOO", tmp_path)
    loaded = load_network(random_network("pylos", "basic"))
    save_network(tmp_path / "small.safetensors", loaded.network, loaded.about)
    assert make_player("net:zoo:small,sims=8", load("pylos")).name == "net:zoo:small,sims=8"
    for name in ("none", "../small", ""):
        with pytest.raises(BadInput, match=r"the zoo has no network.*it has small"):
            make_player(f"net:zoo:{name}", load("pylos"))


def test_a_tilde_stands_for_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    new_run(tmp_path / "run", [{"file": "checkpoint_01000.pth", "step": 1000}])
    assert make_player("net:~/run/checkpoint_01000.pth", load("pylos")).name == "net:'~/run/checkpoint_01000.pth'"
    assert make_player("net:~/run", load("pylos")).name == f"net:{tmp_path}/run/checkpoint_01000.pth"


def test_a_missing_file_and_no_file_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"player 'net:none\.pth': 'none\.pth' is not there"):
        make_player("net:none.pth", load("pylos"))
    for text in ("net", "net:", "net:,sims=3"):
        with pytest.raises(BadInput, match="net needs a file behind a colon"):
            make_player(text, load("pylos"))


# ---- which game it plays -------------------------------------------------------------------------


def saved(path: Path, config: object, **about: object) -> Path:
    save_network(path, build(config), About(**about))
    return path


PYLOS = PerceptronConfig(inputs=92, actions=303, hidden=(4,))
TAUGHT = {"game": "pylos", "rules_version": load("pylos").version, "observation": "rich"}


@pytest.mark.parametrize(
    ("config", "about", "complaint"),
    [
        (PYLOS, TAUGHT | {"game": "gomoku:size=9"}, "it was taught gomoku:size=9"),
        (PYLOS, TAUGHT | {"game": "/tmp/pylon.py"}, "it was taught /tmp/pylon.py"),
        (PYLOS, TAUGHT | {"rules_version": 99}, "version 99 of the rules; this is version"),
        (PYLOS, TAUGHT | {"observation": "planes"}, "'planes'; the game has basic, rich"),
        (PYLOS, TAUGHT | {"observation": "basic"}, "it reads 92 numbers; the observation 'basic' has 32"),
        (PYLOS.model_copy(update={"actions": 302}), TAUGHT, "302 actions; the game has 303"),
        (PYLOS, {}, "does not say which game"),
        (PYLOS, {"game": "pylos"}, "does not say which game"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(config, about, complaint, tmp_path):
    path = saved(tmp_path / "odd.pth", config, **about)
    with pytest.raises(BadInput, match=rf"odd\.pth' cannot play pylos: .*{complaint}"):
        make_player(f"net:{path}", load("pylos"))


def test_a_tower_plays_on_boards_of_every_size():
    path = random_network("gomoku:size=5", "planes", config=TowerConfig(planes=3, rows=5, cols=5, width=4, blocks=1))
    small = load_network(path).network.eval()
    for size in (5, 15, 20):
        game = load("gomoku", size=size)
        player = make_player(f"net:{path},sims=4", game)
        assert player.choose(turn_at(game.start())).action in game.start().legal()
        rows = np.stack([game.start().observe("planes").ravel()])
        logits, _ = player.evaluator(rows)
        with torch.no_grad():
            wanted = resized(small, size, size).eval().taught(torch.from_numpy(rows).float()).logits
        np.testing.assert_allclose(logits, wanted.numpy(), atol=1e-5)


def test_a_perceptron_of_a_smaller_board_is_refused_on_a_larger_one():
    path = random_network("gomoku:size=5", "planes", config=PerceptronConfig(inputs=75, actions=25, hidden=(4,)))
    assert make_player(f"net:{path}", load("gomoku:size=5"))
    with pytest.raises(BadInput, match="it reads 75 numbers; the observation 'planes' has 675"):
        make_player(f"net:{path}", load("gomoku"))


def test_options_of_a_game_may_differ_from_those_a_network_was_taught(tmp_path):
    path = saved(tmp_path / "a.pth", PYLOS, **TAUGHT | {"game": GREEDY})
    for spec in ("pylos", GREEDY, "pylos:rules=children"):
        assert make_player(f"net:{path}", load(spec))


def test_a_network_plays_a_game_that_was_loaded_from_a_file():
    game = load(CONNECT_FOUR)
    path = random_network(CONNECT_FOUR, next(iter(game.observations)))
    assert isinstance(make_player(f"net:{path},sims=8", game), NetworkPlayer)


def test_a_network_may_not_look_at_hidden_hands():
    with pytest.raises(BadInput, match="named oracle:net"):
        make_player("net:any.pth", load("texas42"))


# ---- playing -------------------------------------------------------------------------------------


def test_networks_that_see_different_observations_meet_in_one_match():
    game = load(GREEDY)
    first, second = (f"net:{random_network(GREEDY, kind)},sims=6" for kind in ("basic", "rich"))
    score, moves = moves_of(game, first, second, games=4)
    assert len(score.games) == len(moves) == 4


@pytest.mark.slow
def test_networks_of_the_original_meet_in_one_match(tmp_path):
    game = load(GREEDY)
    checkpoint(tmp_path / "v3.pth", worn(v3()), step=1)
    checkpoint(tmp_path / "v4.pth", worn(v4()), step=1)
    checkpoint(tmp_path / "v5.pth", worn(v5()), step=1, model_config=V5_SHAPE | {"rich_obs": True})
    for one, other in (("v3", "v4"), ("v4", "v5")):
        score, _ = moves_of(game, f"net:{tmp_path}/{one}.pth,sims=16", f"net:{tmp_path}/{other}.pth,sims=16")
        assert len(score.games) == 2


def slow_priors(path: str, position) -> list[float]:
    """Ask the module itself for the shares of the legal moves."""
    loaded = load_network(path)
    kind = loaded.about.observation
    with torch.no_grad():
        logits, _ = loaded.network(torch.from_numpy(position.observe(kind)).float().view(1, -1))
    return logits[0, torch.from_numpy(position.legal().astype("int64"))].softmax(0).tolist()


@pytest.mark.parametrize("kind", ["basic", "rich"])
def test_the_priors_of_its_search_are_the_network_s(kind):
    game = load(GREEDY)
    position, path = game.start(), random_network(GREEDY, kind)
    position.play(int(position.legal()[5]))
    lines = make_player(f"net:{path},sims=12", game).choose(turn_at(position)).analysis.lines
    found = [line.prior for line in sorted(lines, key=lambda line: line.action)]
    assert found == pytest.approx(slow_priors(path, position), abs=1e-5)


TEXTS = [
    "sims=20",
    "sims=20,noise=0.4",
    "sims=20,temperature=1,temperature_plies=5",
    "sims=16,gumbel=4",
    "sims=20,cache=50",
    "sims=20,leaves=4",
]


@pytest.mark.parametrize("options", TEXTS)
def test_games_searched_together_are_those_searched_alone(options):
    game = load(GREEDY)
    text = f"net:{random_network(GREEDY, 'rich')},{options}"
    turns, position, moves = [], game.start(), []
    for ply in range(9):
        turns.append(turn_at(position.copy(), tuple(moves), game.start(), seed=100 + ply))
        moves.append(int(position.legal()[ply % len(position.legal())]))
        position.play(moves[-1])
    player = make_player(text, game)
    together = player.choose_many(turns)
    assert gains_from_many(player)
    assert together == [make_player(text, game).choose(turn) for turn in turns]


def test_a_match_does_not_depend_on_how_many_games_are_played_at_once():
    game = load(GREEDY)
    first, second = (f"net:{random_network(GREEDY, kind)},sims=6,noise=0.2" for kind in ("basic", "rich"))
    assert moves_of(game, first, second, 4, at_once=1) == moves_of(game, first, second, 4, at_once=4)
    other = "alphabeta:depth=1"
    assert moves_of(game, first, other, 4, threads=1) == moves_of(game, first, other, 4, threads=3)


def test_more_games_than_the_memory_holds_are_searched_in_groups(monkeypatch):
    game = load(GREEDY)
    text = f"net:{random_network(GREEDY, 'basic')},sims=6"
    turns = [turn_at(game.start(), seed=seed) for seed in range(5)]
    expected = make_player(text, game).choose_many(turns)
    monkeypatch.setattr("rookery.arena.network_player.MOST_BYTES", 1)
    assert make_player(text, game).choose_many(turns) == expected


def test_a_player_on_a_clock_searches_each_game_by_itself():
    game = load(GREEDY)
    player = make_player(f"net:{random_network(GREEDY, 'basic')}", game)
    turns = [turn_at(game.start(), seed=seed, clock=(3.0, 3.0)) for seed in range(2)]
    assert [choice.action in game.start().legal() for choice in player.choose_many(turns)] == [True, True]


def test_without_limits_it_makes_as_many_simulations_as_other_tree_searches():
    game = load(GREEDY)
    text = f"net:{random_network(GREEDY, 'basic')}"
    player = make_player(text, game)
    assert isinstance(player, NetworkPlayer)
    assert player.choose(turn_at(game.start())).analysis.nodes == 400
    assert player.choose_many([turn_at(game.start())])[0].analysis.nodes == 400


def test_a_stop_ends_games_searched_together():
    game = load(GREEDY)
    player = make_player(f"net:{random_network(GREEDY, 'basic')},sims=1000000", game)
    turn = turn_at(game.start())
    turn.stop[0] = 1
    (choice,) = player.choose_many([turn])
    assert choice.analysis.nodes < 10


def test_policy_temperature_flattens_the_priors():
    game = load(GREEDY)
    path = random_network(GREEDY, "rich")
    spread = []
    for temperature in (0.1, 1, 10):
        player = make_player(f"net:{path},sims=4,policy_temperature={temperature}", game)
        priors = [line.prior for line in player.choose(turn_at(game.start())).analysis.lines]
        spread.append(max(priors) - min(priors))
    assert spread[0] > 2 * spread[1] > 4 * spread[2]


def test_a_cache_finds_positions_again():
    game = load(GREEDY)
    player = make_player(f"net:{random_network(GREEDY, 'basic')},sims=30,cache=1000", game)
    for _ in range(2):
        player.choose(turn_at(game.start()))
    assert player.evaluator.memory.found >= 31


def test_a_search_takes_any_evaluator_by_hand():
    game = load(GREEDY)
    player = make_player(f"net:{random_network(GREEDY, 'rich')},sims=10", game)
    by_hand = search(game.start(), Limits(nodes=10), evaluator=player.evaluator, stream=1)
    assert by_hand == player.choose(turn_at(game.start(), seed=1)).analysis


@pytest.mark.slow
def test_the_command_line_plays_a_network():
    path = random_network(GREEDY, "rich")
    done = run_rookery("analyse", GREEDY, "--player", f"net:{path},sims=20", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["player"] == f"net:{path},sims=20"
    done = run_rookery("analyse", "pylos", "--player", "net:nothing.pth")
    assert done.returncode == 2
    assert "nothing.pth" in done.stderr


# ---- a transformer -------------------------------------------------------------------------------


def transformer_file(path, side_token, **sizes):
    config = TransformerConfig(width=16, mlp=16, policy_hidden=8, side_token=side_token, **sizes)
    kind = "tokens_mover" if side_token else "tokens"
    save_network(path, build(config, 3), About(game="domineering", rules_version=1, observation=kind))
    return path


@pytest.mark.parametrize("side_token", [False, True])
@pytest.mark.parametrize("spec", ["domineering", "domineering:rows=5,cols=7"])
def test_a_transformer_plays_domineering_on_boards_of_several_sizes(spec, side_token, tmp_path):
    game = load(spec)
    path = transformer_file(tmp_path / "a.pth", side_token, rows=game.rows, cols=game.cols)
    score, moves = moves_of(game, f"net:{path},sims=3", "random")
    assert len(score.games) == 2
    assert moves == moves_of(game, f"net:{path},sims=3", "random")[1]


def test_a_side_token_needs_an_observation_that_tells_the_side(tmp_path):
    config = TransformerConfig(rows=16, cols=16, width=8, layers=1, mlp=8, side_token=True)
    for kind, fits in (("tokens", False), ("tokens_mover", True)):
        save_network(tmp_path / "a.pth", build(config), About(game="domineering", observation=kind))
        why = networks.misfit(load_network(tmp_path / "a.pth"), load("domineering"))
        assert (why == "") is fits
        assert fits or "'tokens_mover' does" in why


def test_a_tower_of_another_game_or_with_other_actions_is_refused_on_every_board(tmp_path):
    config = TowerConfig(planes=3, rows=9, cols=9, width=4, blocks=1)
    save_network(tmp_path / "a.pth", build(config), About(game="gomoku:size=9", observation="planes"))
    with pytest.raises(BadInput, match="it was taught gomoku"):
        networks.network_for(str(tmp_path / "a.pth"), load(str(CONNECT_FOUR)))
    with pytest.raises(BadInput, match="it knows 225 actions; the game has"):
        networks.network_for(str(tmp_path / "a.pth"), load("gomoku:size=15,opening=swap2"))


def test_a_transformer_for_another_board_is_refused(tmp_path):
    path = transformer_file(tmp_path / "a.pth", False, rows=5, cols=7)
    with pytest.raises(BadInput, match="reads 36 numbers"):
        make_player(f"net:{path}", load("domineering"))
    with pytest.raises(BadInput, match="for a board of 5 x 7; the game's has 7 x 5"):
        make_player(f"net:{path}", load("domineering:rows=7,cols=5"))

"""Phases 2 and 3 of the Domineering data, and the players of all phases against each other."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from faults.killing import rookery
from rookery import BadInput, load
from rookery.arena.evaluator import steady
from rookery.arena.players import make_player
from rookery.cli import main
from rookery.nets.files import load_network
from rookery.search import dag
from rookery.search.analysis import Limits
from rookery.search.domineering_boards import after_openings, random_openings
from rookery.studies import domineering_bootstrap, domineering_teaching
from rookery.studies.domineering_bootstrap import Bootstrap, BootstrapSettings, bootstrap_recipe, takes_over
from rookery.studies.domineering_duels import compare_players
from rookery.studies.domineering_files import read_games
from rookery.studies.domineering_games import alphabeta_recipe, make_games
from rookery.studies.domineering_judge import BoardJudge, LookAhead
from rookery.studies.domineering_play import GAMES_2, Pairs, derived_seed, play_games
from rookery.studies.domineering_rave import RavePlayer, RaveSettings, rave_recipe

pytestmark = pytest.mark.xdist_group("domineering")
CPU = torch.device("cpu")
SMALLEST = BootstrapSettings(width=4, blocks=0, round=3, openings=2, passes=1, batch=128)
FEW = RaveSettings(simulations=6, passes=1, batch=128, at_once=4)


def files(folder) -> dict[str, bytes]:
    """Return all that lies in a folder, but for locks."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def phase2(folder, games: int = 6, seed: int = 0, settings: BootstrapSettings = SMALLEST):
    return make_games(folder, games, bootstrap_recipe(folder, seed, settings, CPU))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A folder with the games of phase 1."""
    folder = tmp_path_factory.mktemp("begun")
    make_games(folder, 24, alphabeta_recipe(seed=5))
    return folder


@pytest.fixture(scope="module")
def whole(begun, tmp_path_factory):
    """A folder with small phases 1, 2 and 3."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    shutil.copytree(begun, folder)
    phase2(folder)
    make_games(folder, 4, rave_recipe(folder, 0, FEW, CPU, 1))
    return folder


# ---- phase 2 -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_phase_2_leaves_games_networks_and_what_each_round_came_to(whole):
    records = read_games(whole / "phase2_games.npz")
    assert len(records) == 6
    assert records.explored[:, :16].all()
    assert not records.explored[:, 16:].any()
    about = json.loads((whole / "phase2_games.json").read_text())
    assert (about["phase"], about["settings"]["round"], about["settings"]["device"]) == (2, 3, "cpu")
    rounds = json.loads((whole / "phase2_rounds.json").read_text())
    assert [entry["round"] for entry in rounds] == [0, 1, 2]
    assert all(entry["openings"] == 2 for entry in rounds[1:])
    assert (whole / "value_phase2.safetensors").read_bytes() == (
        whole / "phase2_networks" / "round_002.safetensors"
    ).read_bytes()
    assert not (whole / "phase2_parts").exists()


@pytest.mark.slow
def test_games_are_those_of_the_network_of_their_round(whole):
    records = read_games(whole / "phase2_games.npz")
    seed = derived_seed(0, GAMES_2)
    for number in range(2):
        network = load_network(whole / "phase2_networks" / f"round_00{number}.safetensors").network
        with steady(CPU):
            again = play_games(
                random_openings(3, 16, seed, 3 * number), (LookAhead(BoardJudge(network)),), np.zeros((3, 2), int),
                seed, 3 * number,
            )  # fmt: skip
        assert (again.moves == records.moves[3 * number : 3 * number + 3]).all()


@pytest.mark.slow
def test_openings_differ_from_those_of_other_phases(whole):
    openings = [read_games(whole / f"phase{phase}_games.npz").moves[:, :16] for phase in (1, 2, 3)]
    assert len({tuple(row) for part in openings for row in part}) == 24 + 6 + 4


class Killed(BaseException):
    """Stands for a process that ends at once."""


@pytest.mark.slow
def test_killed_at_any_step_phases_2_and_3_end_with_the_same_files(begun, whole, tmp_path, monkeypatch):
    """Every file written is a step; a run is killed before every second of them in turn, and goes on."""
    steps, real = 0, os.replace
    while True:
        left, folder = [steps], tmp_path / f"killed{steps}"
        shutil.copytree(begun, folder)

        def dying(*arguments, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            real(*arguments)

        def both(folder=folder):
            phase2(folder)
            make_games(folder, 4, rave_recipe(folder, 0, FEW, CPU, 1))

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", dying)
            try:
                both()
            except Killed:
                pass
            else:
                break
        both()
        assert files(folder) == files(whole)
        shutil.rmtree(folder)
        steps += 2
    assert steps > 18


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "taken"), [(Pairs(9, 1, 2), False), (Pairs(10, 0, 1), True)])
def test_a_challenger_takes_over_only_by_a_certain_win(begun, tmp_path, monkeypatch, pairs, taken):
    monkeypatch.setattr(domineering_bootstrap, "compare", lambda *some, **more: (pairs, None))
    shutil.copytree(begun, tmp_path / "data")
    phase2(tmp_path / "data", games=3)
    networks = tmp_path / "data" / "phase2_networks"
    first, second = (load_network(networks / f"round_00{n}.safetensors").network for n in range(2))
    changed = any(
        not torch.equal(one, other)
        for one, other in zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    )
    assert changed == taken
    facts = json.loads((networks / "round_001.json").read_text())
    assert (facts["taken"], facts["made_by"], facts["games"]) == (taken, int(taken), 6)


@pytest.mark.parametrize(
    ("pairs", "taken"),
    [
        (Pairs(0, 5, 0), False), (Pairs(5, 0, 0), False), (Pairs(6, 9, 0), True), (Pairs(0, 9, 6), False),
        (Pairs(10, 0, 2), True), (Pairs(9, 0, 2), False), (Pairs(1, 0, 10), False),
    ],
)  # fmt: skip
def test_a_win_is_certain_below_a_chance_of_five_in_a_hundred(pairs, taken):
    assert takes_over(pairs) == taken


@pytest.mark.slow
def test_a_challenger_is_taught_all_games_since_the_last_change_and_as_many_older_ones(whole):
    bootstrap = Bootstrap(whole, 0, replace(SMALLEST, old=2.0), CPU)
    made = read_games(whole / "phase2_games.npz")
    lesson, new = bootstrap.lesson_games(2, 0)
    assert (new.moves == made.moves).all()
    assert (lesson.moves[:6] == made.moves).all()
    assert len(lesson) == 18
    lesson, new = bootstrap.lesson_games(2, 1)
    assert (new.moves == made.moves[3:]).all()
    assert len(lesson) == 9
    older = {tuple(row) for row in [*read_games(whole / "phase1_games.npz").moves.tolist(), *made.moves[:3].tolist()]}
    assert {tuple(row) for row in lesson.moves[3:].tolist()} < older


@pytest.mark.slow
def test_more_games_go_on_with_the_networks_that_are_there(begun, tmp_path):
    for name in ("step", "once"):
        shutil.copytree(begun, tmp_path / name)
    phase2(tmp_path / "step", games=3)
    phase2(tmp_path / "step", games=6)
    phase2(tmp_path / "once", games=6)
    assert files(tmp_path / "step") == files(tmp_path / "once")


@pytest.mark.slow
def test_what_does_not_fit_phase_2_is_refused(whole, tmp_path):
    with pytest.raises(BadInput, match=r"phase1_games.npz: phase 2 learns from the games of phase 1"):
        phase2(tmp_path)
    with pytest.raises(BadInput, match="come in rounds of 3: ask for whole rounds, not 7"):
        phase2(whole, games=7)
    with pytest.raises(BadInput, match="made with width 4, not 5"):
        phase2(whole, settings=replace(SMALLEST, width=5))
    shutil.copytree(whole, tmp_path / "data")
    for name in ("phase2_games.npz", "phase2_games.json"):
        (tmp_path / "data" / name).unlink()
    with pytest.raises(BadInput, match=r"plan.json: these games are made with seed 0, not 1"):
        phase2(tmp_path / "data", seed=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 0),
        ("blocks", -1),
        ("round", 0),
        ("openings", 0),
        ("challenge_plies", 65),
        ("passes", 0),
        ("old", -1.0),
    ],
)
def test_impossible_settings_of_phase_2_are_refused(name, value):
    with pytest.raises(BadInput, match=name):
        replace(SMALLEST, **{name: value})


# ---- phase 3 -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_phase_3_leaves_games_and_a_network_that_plays(whole):
    records = read_games(whole / "phase3_games.npz")
    assert len(records) == 4
    assert records.explored[:, :16].all()
    assert records.explored[:, 16:32].any()  # drawn by visits
    assert not records.explored[:, 32:].any()
    about = json.loads((whole / "phase3_games.json").read_text())
    assert about["settings"]["simulations"] == 6
    game = load("domineering")
    for text in (f"net:{whole / 'net_phase3.safetensors'},sims=4", f"lookahead:{whole / 'value_phase2.safetensors'}"):
        assert make_player(text, game).name == text


@pytest.mark.slow
def test_the_player_of_phase_3_is_the_search_of_one_position(whole):
    network = load_network(whole / "net_phase3.safetensors").network
    game, judge = load("domineering"), BoardJudge(network, rows=1)
    states, seeds = after_openings(random_openings(5, 40, seed=1)), np.arange(5) + 9
    with steady(CPU):
        chosen, _ = RavePlayer(judge, FEW, threads=2).choose(states, seeds, 40)

        class Evaluator:
            kind = "planes"

            def __call__(self, observations):
                logits, values = network(torch.from_numpy(observations))
                return logits.detach().numpy(), values.detach().numpy()

        for n in range(5):
            position = game.start()
            position.states[:] = states[n : n + 1]
            single = dag.search(
                position, Limits(nodes=6), evaluator=Evaluator(), seed=int(seeds[n]), c=FEW.c, k=FEW.k, own_value=True
            )
            assert single.action == chosen[n]


@pytest.mark.slow
def test_games_of_phase_3_do_not_depend_on_threads_or_company(whole):
    one, other = (rave_recipe(whole, 0, replace(FEW, at_once=size), CPU, threads) for size, threads in ((4, 1), (4, 3)))
    assert (one.make(0, 4).moves == other.make(0, 4).moves).all()
    assert (one.make(2, 1).moves == other.make(0, 4).moves[2:3]).all()


@pytest.mark.slow
def test_the_network_with_which_others_play_is_taught_as_the_one_here(whole, tmp_path, monkeypatch):
    folder, threads, taught = tmp_path / "data", torch.get_num_threads(), []
    shutil.copytree(whole, folder)
    (folder / "net_phase3.json").unlink()

    def noted(*given):
        taught.append(torch.get_num_threads())
        return domineering_teaching.teach(*given)

    monkeypatch.setattr("rookery.studies.domineering_rave.teach", noted)
    torch.set_num_threads(2)
    try:
        rave_recipe(folder, 0, FEW, CPU, 1).elsewhere()
    finally:
        torch.set_num_threads(threads)
    assert taught == [1]
    assert (folder / "net_phase3.safetensors").read_bytes() == (whole / "net_phase3.safetensors").read_bytes()


@pytest.mark.slow
def test_what_does_not_fit_phase_3_is_refused(begun, whole):
    with pytest.raises(BadInput, match=r"value_phase2.safetensors: phase 3 needs the games and the network of phase 2"):
        rave_recipe(begun, 0, FEW, CPU, 1)
    with pytest.raises(BadInput, match="made with simulations 6, not 7"):
        make_games(whole, 4, rave_recipe(whole, 0, replace(FEW, simulations=7), CPU, 1))


@pytest.mark.parametrize(
    ("name", "value"), [("simulations", 0), ("drawn", -1), ("passes", 0), ("at_once", 0), ("temperature", 0.0)]
)
def test_impossible_settings_of_phase_3_are_refused(name, value):
    with pytest.raises(BadInput, match=name):
        replace(FEW, **{name: value})


# ---- the commands --------------------------------------------------------------------------------


def study(monkeypatch, *arguments: str) -> int:
    """Run a command of the study in this process; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["rookery", "study", "domineering", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.slow
def test_the_players_of_all_phases_meet(whole, monkeypatch, capsys):
    arguments = ["--folder", str(whole), "--openings", "1", "--plies", "64", "--simulations", "2", "--device", "cpu"]
    assert study(monkeypatch, "compare-data", *arguments, "--threads", "1") == 0
    shown = capsys.readouterr().out
    assert "rave - lookahead" in shown
    assert "(no interval) of 2 games" in shown
    facts = json.loads((whole / "players.json").read_text())
    assert [(each["first"], each["second"]) for each in facts["results"]] == [
        ("rave", "lookahead"), ("rave", "alphabeta"), ("lookahead", "alphabeta"),
    ]  # fmt: skip
    assert all(each["both"] + each["split"] + each["neither"] == 1 for each in facts["results"])
    again = compare_players(whole, openings=1, plies=64, rave=RaveSettings(simulations=2))
    assert again == facts


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["data", "--phase", "4"], "--phase 4: the phases there are: 1, 2, 3"),
        (["data", "--phase", "2", "--simulations", "9"], "--simulations 9: that is an option of phase 3, not of 2"),
        (["data", "--width", "9"], "--width 9: that is an option of phase 2, not of 1"),
        (["data", "--tiny"], "--tiny: that is an option of phases 2 and 3, not of 1"),
        (["data", "--phase", "2"], "phase1_games.npz: phase 2 learns from"),
        (["data", "--phase", "3"], "value_phase2.safetensors: phase 3 needs"),
        (["data", "--phase", "2", "--device", "abacus"], "device"),
        (["compare-data", "--players", "rave"], "a comparison needs two players or more"),
        (["compare-data", "--players", "rave,me"], "--players me: the players there are"),
        (["compare-data"], "is not there"),
    ],
)
def test_what_cannot_be_done_is_refused(tmp_path, monkeypatch, capsys, arguments, complaint):
    assert study(monkeypatch, *arguments, "--folder", str(tmp_path)) == 2
    assert complaint in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.faults
def test_a_killed_process_is_continued(begun, tmp_path):
    """The whole of phases 2 and 3 as commands, killed several times at whatever they are doing."""
    run = ["study", "domineering", "data", "--tiny", "--device", "cpu", "--phase"]
    second = ["2", "--games", "6", "--round", "3", "--openings", "2", "--width", "4"]
    third = ["3", "--games", "6", "--simulations", "4", "--at-once", "3"]
    for name in ("killed", "undisturbed"):
        shutil.copytree(begun, tmp_path / name)
    appears = {
        "phase2_parts/plan.json": second, "phase2_networks/round_000.safetensors": second,
        "phase2_parts/00000.npz": second, "net_phase3.safetensors": third, "phase3_parts/00000.npz": third,
    }  # fmt: skip
    for arguments in (second, third):
        for name in [name for name, when in appears.items() if when is arguments]:
            child = rookery(*run, *arguments, "--folder", str(tmp_path / "killed"))
            child.until((tmp_path / "killed" / name).exists)
            time.sleep(0.1)
            assert child.kill() == -signal.SIGKILL
        for name in ("killed", "undisturbed"):
            rookery(*run, *arguments, "--folder", str(tmp_path / name)).finish()
    assert files(tmp_path / "killed") == files(tmp_path / "undisturbed")

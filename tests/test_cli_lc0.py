"""Commands on Lc0's networks, as a person types them."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from lc0.broken import stored_broken
from lc0_files import random_net
from nets.samples import on_one_thread
from rookery import BadInput, lc0, terminal
from rookery.cli import app
from rookery.nets.lc0.files import read_file, write_file
from rookery.nets.lc0.schema import Encoding

pytestmark = pytest.mark.xdist_group("command line")


@pytest.fixture
def rookery(monkeypatch, tmp_path):
    """Return a function that runs a command in this process, in a folder with a network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal.out, "_width", 200)
    write_file("net.pb.gz", random_net("attention, dense, several heads", encoding=Encoding.LINEAR16))

    def run(*arguments):
        return CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["lc0", *arguments])

    with on_one_thread():
        yield run


def printed(done) -> str:
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("command", ["planes", "moves", "describe", "eval", "convert", "onnx", "bench"])
def test_help_shows_an_example(rookery, command):
    assert f"rookery lc0 {command}" in printed(rookery(command, "--help"))


def test_sums_of_planes_and_single_planes_are_shown(rookery):
    facts = json.loads(printed(rookery("planes", "startpos", "e2e4", "--json")))
    assert facts["sums"][:13] == [8, 2, 2, 2, 1, 1, 8, 2, 2, 2, 1, 1, 0]
    assert facts["sums"][104:] == [64, 64, 64, 64, 64, 0, 0, 64]
    lines = printed(rookery("planes", "startpos", "--plane", "1")).splitlines()
    assert lines[-2:] == ["1 · 1 · · · · 1 ·", "  a b c d e f g h"]
    assert len(printed(rookery("planes")).splitlines()) == 9
    counted = ("planes", "8/8/4k3/8/8/2N5/1K1R4/8 w - - 3 40", "--format", "4", "--plane", "109")
    assert printed(rookery(*counted)).splitlines()[0] == "8 " + " ".join(["0.03"] * 8)
    plane = json.loads(printed(rookery("planes", "startpos", "--plane", "5", "--json")))
    assert plane["ranks"][0] == [0, 0, 0, 0, 1, 0, 0, 0]


def test_the_table_of_moves_is_shown_whole_or_for_a_position(rookery):
    whole = json.loads(printed(rookery("moves", "--json")))
    assert len(whole) == 1858
    assert whole["h7h8b"] == 1857
    legal = json.loads(printed(rookery("moves", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "--json")))
    assert (legal["e8g8"], legal["e8c8"]) == (103, 97)
    assert printed(rookery("moves", "startpos", "e2e4")).splitlines()[0] == "b8a6    34"


def test_a_network_is_described(rookery):
    text = printed(rookery("describe", "net.pb.gz"))
    assert "attention, 2 layers of width 16, 2 heads" in text
    assert "linear16" in text
    facts = json.loads(printed(rookery("describe", "net.pb.gz", "--json")))
    assert list(facts["policy_heads"]) == ["vanilla", "optimistic_st", "soft"]
    assert facts["sizes"]["width"] == 16


def test_a_position_is_judged_for_people_and_programs(rookery, tmp_path):
    text = printed(rookery("eval", "net.pb.gz", "startpos", "e2e4", "e7e5", "--top", "2", "--svg", "board.svg"))
    assert text.splitlines()[0].startswith("rnbqkbnr/pppp1ppp/8/4p3")
    assert len(text.splitlines()) == 4
    assert (tmp_path / "board.svg").read_text().startswith("<svg")
    found = json.loads(printed(rookery("eval", "net.pb.gz", "startpos", "e2e4", "e7e5", "--json", "--planes")))
    wanted = lc0.load("net.pb.gz").evaluate("startpos moves e2e4 e7e5")[0]
    assert found["q"] == wanted.q
    assert found["moves"]["g1f3"] == {
        "index": 159, "logit": wanted.moves["g1f3"].logit, "p": wanted.moves["g1f3"].p,
    }  # fmt: skip
    assert len(found["planes"]) == 112
    assert found["planes"][0] == ["000000001000ef00", 1.0]


def test_a_fen_may_stand_without_quotes(rookery):
    fields = ["8/8/4k3/8/8/2N5/1K1R4/8", "w", "-", "-", "3", "40"]
    for given in ([" ".join(fields)], fields, fields[:4]):
        facts = json.loads(printed(rookery("planes", *given, "c3b5", "--json")))
        assert facts["fen"].startswith("8/8/4k3/1N6/8/8/1K1R4/8 b")


def test_a_file_of_positions_is_answered_line_by_line(rookery, tmp_path):
    lines = [{"fen": "startpos", "moves": ["e2e4"]}, {"fen": "8/8/4k3/8/8/2N5/1K1R4/8 w - - 3 40", "moves": []}] * 200
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ("--policy-head", "optimistic", "--value-head", "q", "--fill", "no")
    out = printed(rookery("eval", "net.pb.gz", "--positions", "many.jsonl", "--json", *options))
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) == 400
    network = lc0.load("net.pb.gz", policy_head="optimistic", value_head="q", fill="no")
    for line, wanted in zip(found[:2], network.evaluate(lines[:2]), strict=True):
        assert line["q"] == pytest.approx(wanted.q, abs=1e-6)
        assert line["d"] == pytest.approx(wanted.d, abs=1e-6)
        assert line["m"] == pytest.approx(wanted.m, abs=1e-5)
        assert set(line["moves"]) == set(wanted.moves)
        assert all(line["moves"][move]["index"] == wanted.moves[move].index for move in wanted.moves)
    assert found[0] == found[2]


def test_a_network_that_answers_with_no_numbers_is_refused(rookery, tmp_path):
    stored_broken(tmp_path, "ip2_pol_b")
    (tmp_path / "one.jsonl").write_text('{"fen": "startpos"}\n')
    for given in (["startpos"], ["--positions", "one.jsonl", "--json"]):
        done = rookery("eval", "broken.pb.gz", *given)
        assert isinstance(done.exception, BadInput)
        assert "network 'broken.pb.gz' answers with numbers that are not finite" in str(done.exception)
        assert done.stdout == ""


def test_networks_are_converted_and_exported(rookery, tmp_path):
    assert printed(rookery("convert", "net.pb.gz", "half.pb.gz", "--encoding", "f16")).strip() == "half.pb.gz"
    half = read_file("half.pb.gz")
    assert {layer.get("encoding") for layer in half.layers.values()} == {2}
    printed(rookery("onnx", "net.pb.gz", "soft.onnx", "--policy-head", "soft"))
    assert (tmp_path / "soft.onnx").stat().st_size > 100_000


def test_files_that_nobody_names_are_written_beside_the_network_and_over_nothing(rookery, tmp_path):
    for command, written in ((("convert", "--encoding", "bf16"), "net.bf16.pb.gz"), (("onnx",), "net.onnx")):
        words = (command[0], "net.pb.gz", *command[1:])
        assert printed(rookery(*words)).strip() == written
        assert (tmp_path / written).stat().st_size > 100_000
        assert "is there already" in str(rookery(*words).exception)
    assert {layer.get("encoding") for layer in read_file("net.bf16.pb.gz").layers.values()} == {3}


def test_speed_is_measured(rookery):
    facts = json.loads(
        printed(rookery("bench", "net.pb.gz", "--batch", "2", "--seconds", "0.02", "--rounds", "1", "--json"))
    )
    assert [(row["what"], row["batch"]) for row in facts["rows"]] == [("planes and moves", 256), ("network", 2)]
    assert all(row["rate"] > 0 for row in facts["rows"])
    assert facts["rows"][1]["work"] == pytest.approx(facts["rows"][1]["rate"] * facts["rows"][1]["operations"])


def test_what_a_search_costs_is_measured(rookery):
    words = ("bench", "net.pb.gz", "--search", "200", "--minibatch", "16")
    facts = json.loads(printed(rookery(*words, "--json")))
    assert facts["nodes"] == 200
    assert 200 / 16 < facts["batches"] <= facts["asked"] <= 200
    assert facts["overhead"] == pytest.approx(facts["seconds"] / facts["network_seconds"] - 1)
    assert "of the network's time" in printed(rookery(*words))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("describe", "none.pb.gz"), "cannot be read"),
        (("planes", "startpos", "--format", "7"), "should be one of 1, 2, 3, 4, 5, 132, 133"),
        (("eval", "net.pb.gz", "startpos", "e2e5"), "is not legal"),
        (("eval", "net.pb.gz", "startpos", "--policy-head", "nobody"), "no policy head 'nobody'"),
        (("eval", "net.pb.gz", "startpos", "e2e4", "--positions", "x.jsonl"), "give no FEN"),
        (("convert", "net.pb.gz", "out.gz", "--encoding", "f32"), "ends in .pb.gz"),
        (("onnx", "net.pb.gz", "out.pb"), "ends in .onnx"),
    ],
)
def test_mistakes_are_told(rookery, arguments, message):
    done = rookery(*arguments)
    assert done.exit_code != 0
    assert isinstance(done.exception, BadInput)
    assert message in str(done.exception)

"""Protocols of engines: lines to ours, and from others."""

from __future__ import annotations

import re

from fuzz.boards import WORDS, game_of
from fuzz.target import Target
from fuzz.texts import listed
from rookery.arena.gomocup import ABOUT_NAME, POINT, POINTS
from rookery.arena.process import text_of
from rookery.arena.uci import LONGEST_OPTION, OPTION, analysis_of
from rookery.engines.gomocup import GomocupEngine
from rookery.engines.uci import UciEngine

MOST_LINES = 12
"""of an input that are said to an engine"""

# ---- engines -------------------------------------------------------------------------------------


def say_uci(data: bytes) -> bool:
    """Say lines to the chess engine; whatever they are, it must still find a move afterwards."""
    answers: list[str] = []
    engine = UciEngine(answers.append, player="random")
    try:
        for line in data.split(b"\n")[:MOST_LINES]:
            text = line.decode("utf-8", "replace")
            if "weightsfile" not in text.lower():  # the name of a file, which is not for strangers
                engine.line(text)
        engine.halt()
        engine.wait_for_worker()
        understood = not any("error" in answer or "unknown" in answer for answer in answers)
        for line in (
            "setoption name UCI_Chess960 value false",
            "position startpos moves e2e4",
            "isready",
            "go nodes 1",
        ):
            engine.line(line)
        engine.wait_for_worker()
        engine.halt()
    finally:
        if engine.thinker is not None:
            engine.thinker.close()
    assert "readyok" in answers
    assert answers[-1].startswith("bestmove "), answers[-3:]
    assert not any("\n" in answer for answer in answers)
    return understood


def say_gomocup(data: bytes) -> bool:
    """Say lines to the Gomoku engine; whatever they are, it must still play afterwards."""
    answers: list[str] = []
    engine = GomocupEngine(answers.append, "random")
    for line in data.split(b"\n")[:MOST_LINES]:
        engine.line(line.decode("utf-8", "replace"))
    understood = not any(answer.startswith(("ERROR", "UNKNOWN")) for answer in answers)
    for line in ("DONE", "START 9", "BEGIN"):
        engine.line(line)
    assert re.fullmatch(r"\d,\d", answers[-1]), answers[-3:]
    assert not any("\n" in answer for answer in answers)
    assert not any(re.match(r"(ERROR|MESSAGE) \w+(Error|Exception): ", answer) for answer in answers)
    return understood


def hear_engines(data: bytes) -> bool:
    """Read what other engines answer."""
    line, position = text_of(data), game_of("chess").start()
    found = OPTION.fullmatch(line[:LONGEST_OPTION])
    for pattern in (ABOUT_NAME, POINT, POINTS):
        pattern.search(line)
    told = analysis_of({1: line}, position, None)
    if told is not None:
        assert -1 <= told.value <= 1
        assert told.action in position.legal()
    return found is not None or told is not None


UCI_WORDS = (
    "uci",
    "isready",
    "ucinewgame",
    "setoption name ",
    " value ",
    "position startpos",
    "fen ",
    " moves ",
    "go ",
    "stop",
    "ponderhit",
    "nodes 5",
    "depth ",
    "movetime 5",
    "wtime ",
    "btime ",
    "winc ",
    "infinite",
    "ponder",
    "searchmoves ",
    "mate ",
    "movestogo ",
    "debug",
    "register",
    "MultiPV",
    "UCI_Chess960",
    "CPuct",
    "true",
    "false",
    "-1",
    "e2e4",
    "e7e8q",
    "0000",
    "\n",
)
GOMOCUP_WORDS = (
    "START 9",
    "RECTSTART ",
    "RESTART",
    "INFO ",
    "ABOUT",
    "BEGIN",
    "TURN 4,4",
    "PLAY 3,3",
    "TAKEBACK 4,4",
    "BOARD",
    "DONE",
    "SWAP2BOARD",
    "4,4,1",
    "5,5,2",
    "timeout_turn ",
    "rule 4",
    "max_memory ",
    "time_left ",
    "--1",
    "٣",
    "\n",
    ",",
)
TARGETS = (
    Target(
        "uci",
        say_uci,
        lambda: listed(
            "uci\nisready\nposition startpos moves e2e4\ngo nodes 5",
            "setoption name MultiPV value 3\ngo movetime 5\nstop",
            "go ponder wtime 10 btime 10\nponderhit",
            "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 1 searchmoves e1g1",
            "setoption name UCI_Chess960 value true\ngo infinite\nstop",
        ),
        UCI_WORDS + WORDS["chess"],
        ("rookery.engines.uci", "rookery.engines.uci_words", "rookery.engines.uci_options"),
    ),
    Target(
        "gomocup",
        say_gomocup,
        lambda: listed(
            "START 9\nBEGIN\nTURN 0,0\nTAKEBACK 0,0",
            "START 15\nINFO rule 4\nBOARD\n7,7,1\n8,8,2\nDONE\nABOUT",
            "START 9\nSWAP2BOARD\nDONE\nRESTART",
            "RECTSTART 9,9\nINFO timeout_turn 10\nPLAY 3,3",
        ),
        GOMOCUP_WORDS,
        ("rookery.engines.gomocup", "rookery.engines.gomocup_board"),
    ),
    Target(
        "engine-answers",
        hear_engines,
        lambda: listed(
            "info depth 3 nodes 100 score cp 12 wdl 300 500 200 multipv 1 pv e2e4 e7e5",
            "info score mate -3 lowerbound pv g1f3",
            "option name Hash type spin default 16 min 1 max 33554432",
            'name="x", version="1"',
            "4,5 6,7",
        ),
        UCI_WORDS,
        ("rookery.arena.uci",),
    ),
)
"""protocols of engines"""

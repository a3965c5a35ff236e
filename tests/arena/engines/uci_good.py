"""A UCI engine that keeps to the protocol and insists that its user does: it dies of anything unexpected.

It plays the legal move whose text comes first, logs what it reads to the file named first, and thinks until told to
stop if its option Slow is on.
"""

import os
import sys
from pathlib import Path

import chess


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def hear() -> str:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("a") as log:
            log.write(f"{os.getpid()} {line}")
    return line.strip()


def board_of(words: list[str], chess960: bool) -> chess.Board:
    split = words.index("moves") if "moves" in words else len(words)
    head, moves = words[:split], words[split + 1 :]
    assert head[0] in ("startpos", "fen")
    first = chess.STARTING_FEN if head[0] == "startpos" else " ".join(head[1:])
    board = chess.Board(first, chess960=chess960)
    for text in moves:
        move = board.parse_uci(text)
        assert board.uci(move, chess960=chess960) == text, f"castling written as {text}"
        board.push(move)
    return board


def search(board: chess.Board, options: dict[str, str]) -> None:
    moves = sorted(board.uci(move, chess960=board.chess960) for move in board.legal_moves)
    wanted = options["prefer"].split() if options["prefer"] != "-" else []
    best = [move for move in wanted if move in moves] + moves
    say("info string thinking about pv a1a1")
    say(f"info depth 1 score cp 13 lowerbound nodes 10 pv {best[-1]}")
    for number, move in enumerate(best[: int(options["multipv"])], start=1):
        after = board.copy()
        after.push_uci(move)
        replies = sorted(after.uci(reply) for reply in after.legal_moves)
        play = " ".join([move, *replies[:1], "z9z9"])
        say(f"info depth 7 seldepth 9 multipv {number} score cp {200 - 100 * number} nodes 1234 nps 99 pv {play}")
    while options["slow"] == "true" and hear() != "stop":
        pass
    say(f"bestmove {best[0]} ponder a7a6")


def main() -> None:
    options = {
        "uci_chess960": "false",
        "multipv": "1",
        "threads": "1",
        "slow": "false",
        "style": "Solid",
        "prefer": "-",
    }
    board, ready, greeted = chess.Board(), False, False
    say("A banner that is no part of the protocol")
    while True:
        words = hear().split()
        if words == ["uci"]:
            greeted = True
            say("id name Good Fish 1.0")
            say("id author nobody")
            say("option name UCI_Chess960 type check default false")
            say("option name MultiPV type spin default 1 min 1 max 500")
            say("option name Threads type spin default 1 min 1 max 8")
            say("option name Slow type check default false")
            say("option name Prefer type string default -")
            say("option name Style type combo default Solid var Solid var Very Risky")
            say("option name Clear Hash type button")
            say("uciok")
            continue
        assert greeted, "uci comes first"
        if words == ["isready"]:
            ready = True
            say("readyok")
        elif words[0] == "setoption":
            assert words[1] == "name"
            split = words.index("value")
            name = " ".join(words[2:split]).lower()
            assert name in options, name
            options[name] = " ".join(words[split + 1 :])
        elif words == ["ucinewgame"]:
            ready = False
        elif words[0] == "position":
            board, ready = board_of(words[1:], options["uci_chess960"] == "true"), False
        elif words[0] == "go":
            assert ready, "isready comes before go"
            search(board, options)
        elif words == ["quit"]:
            return
        else:
            raise AssertionError(f"unexpected: {words}")


main()

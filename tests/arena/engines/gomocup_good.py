"""A Gomocup engine that keeps to the protocol and insists that its user does: it dies of anything unexpected.

It plays the first free point, logs what it reads to the file named first, and takes from its command line what to
answer in the opening (`--swap2 "SWAP"`) and whether it talks a lot (`--chatty`) or asks whether it may (`--suggest`).
"""

import argparse
import os
import sys
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("log", nargs="?")
parser.add_argument("--swap2", action="append", default=[])
parser.add_argument("--chatty", action="store_true")
parser.add_argument("--suggest", action="store_true")
given = parser.parse_args()
answers = list(given.swap2)


def say(line: str) -> None:
    if given.chatty:
        sys.stdout.write("MESSAGE thinking hard, 7,7 looks fine\r\n\r\nDEBUG depth 9\n")
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def hear() -> str:
    raw = sys.stdin.buffer.readline()
    if not raw:
        sys.exit(0)
    assert raw.endswith(b"\r\n"), raw
    line = raw.decode().rstrip("\r\n")
    if given.log:
        with Path(given.log).open("a") as log:
            log.write(f"{os.getpid()} {line}\n")
    return line


class Board:
    def __init__(self, size: int):
        self.size, self.stones = size, {}

    def put(self, text: str, owner: int) -> None:
        x, y = (int(part) for part in text.split(","))
        assert 0 <= x < self.size, text
        assert 0 <= y < self.size, text
        assert (x, y) not in self.stones, text
        self.stones[x, y] = owner

    def move(self) -> None:
        text = next(f"{x},{y}" for y in range(self.size) for x in range(self.size) if (x, y) not in self.stones)
        if given.suggest:
            say(f"SUGGEST {text}")
            assert hear() == f"PLAY {text}"
        self.put(text, 1)
        say(text)


def lines_until_done() -> list[str]:
    lines = []
    while (line := hear()) != "DONE":
        lines.append(line)
    return lines


def main() -> None:
    board = None
    while True:
        command, _, rest = hear().partition(" ")
        if command == "ABOUT":
            say('name="Good Stone", version="1.0", author="nobody", country="XX"')
        elif command == "START":
            board = Board(int(rest))
            say("OK")
        elif command == "INFO":
            assert board is not None, "START comes first"
            key, value = rest.split(" ")
            if key == "surprise":
                say(f"UNKNOWN {key}")
            else:
                assert key in ("timeout_turn", "timeout_match", "time_left", "max_memory", "game_type", "rule"), key
                assert value.isdigit()
        elif command == "BEGIN":
            assert not board.stones
            board.move()
        elif command == "TURN":
            board.put(rest, 2)
            board.move()
        elif command == "BOARD":
            assert not board.stones, "a board is told to an engine that has just been started"
            for line in lines_until_done():
                point, _, owner = line.rpartition(",")
                board.put(point, int(owner))
            owners = list(board.stones.values())
            assert abs(owners.count(1) - owners.count(2)) <= 1
            board.move()
        elif command == "SWAP2BOARD":
            assert not board.stones
            assert all(line.count(",") == 1 for line in lines_until_done())
            say(answers.pop(0))
        elif command == "END":
            return
        else:
            raise AssertionError(f"unexpected: {command} {rest}")


main()

"""An engine of either protocol that goes wrong: bad.py PROTOCOL WHEN HOW PIDS.

WHEN is `start` or the number of the move at which it goes wrong; HOW is one of the functions below. It starts a child
of its own and writes both process numbers to the file PIDS.
"""

import os
import signal
import subprocess
import sys
import time

protocol, when, how, pids = sys.argv[1:]
moves = 0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def hang() -> None:
    time.sleep(1000)


def die() -> None:
    sys.stderr.write("out of luck\n")
    sys.stderr.flush()
    os._exit(3)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def flood_lines() -> None:
    while True:
        os.write(1, (b"info string la la la\n" if protocol == "uci" else b"MESSAGE la la la\n") * 500)


def flood_blanks() -> None:
    while True:
        os.write(1, b"\n" * 10000)


def flood() -> None:
    while True:
        os.write(1, b"la" * 10000)


def flood_errors() -> None:
    while True:
        os.write(2, b"la la la\n" * 500)


def blank() -> None:
    os.write(1, b"\xc2\xa0\n\x1c\n")  # blanks of text that are none of bytes


def nonsense() -> None:
    say("bestmove like a horse" if protocol == "uci" else "my move is a secret")


def no_move() -> None:
    say("bestmove (none)" if protocol == "uci" else "ERROR no move comes to mind")


def illegal() -> None:
    say("bestmove e1e8" if protocol == "uci" else "0,0")


def outside() -> None:
    say("bestmove e2e9" if protocol == "uci" else "99,3")


def close_output() -> None:
    os.close(1)
    time.sleep(1000)


def stop_reading() -> None:
    say("bestmove a2a3" if protocol == "uci" else "3,3")
    time.sleep(1000)


def ignore_the_end() -> None:
    say("bestmove a2a3" if protocol == "uci" else "3,3")
    while True:
        sys.stdin.readline()
        time.sleep(0.01)


def answer(line: str) -> None:
    """Behave."""
    word = line.split()[0]
    if word == "uci":
        say("id name Bad Fish")
        say("uciok")
    elif word == "isready":
        say("readyok")
    elif word == "ABOUT":
        say('name="Bad Stone"')
    elif word == "START":
        say("OK")
    elif word == "go":
        say(f"bestmove {['a2a3', 'b2b3', 'c2c3'][moves]}")
    elif word in ("BEGIN", "TURN", "DONE"):
        say(f"{moves},{moves}")


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], stdout=subprocess.DEVNULL)
with open(pids, "a") as file:
    file.write(f"{os.getpid()} {child.pid}\n")
while True:
    line = sys.stdin.readline()
    if not line.strip():
        continue
    asked = line.split()[0] in ("go", "BEGIN", "TURN", "DONE")
    if (when == "start" and not asked) or (asked and when == str(moves)):
        globals()[how]()
    else:
        answer(line)
    moves += asked

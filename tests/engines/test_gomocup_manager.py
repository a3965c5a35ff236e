"""A manager that sends every line of the Gomocup protocol, and many that are none, to the real process.

It keeps a board of its own. After each line it checks that there is the one answer that belongs to it and no other,
that moves go to free points, that no answer is much late, and that nearly all moves are in time.
"""

from __future__ import annotations

import queue
import random
import re
import subprocess
import sys
import threading
import time

import pytest

from engines.lateness import check_in_time

MARGIN = 3.0
"""seconds that an answer may be late: on two busy cores a process may have to wait for its turn"""
START_WITHIN = 120.0  # what is not compiled yet is compiled then
MOVE = re.compile(r"(\d+),(\d+)")
OWN, OTHER, NOBODY = 1, 2, 3
FREESTYLE, ALL_RULES = (0, 2), (0, 1, 2, 3, 4, 6, 8, 10)
RENJU = 4


class Manager:
    """The process, and what is known of its game."""

    def __init__(self, seed, rules, *options):
        self.rng, self.rules = random.Random(seed), rules
        command = [sys.executable, "-m", "rookery", "engine", "gomocup", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answers: queue.Queue[tuple[str, float]] = queue.Queue()
        self.errors: list[bytes] = []
        self.readers = [threading.Thread(target=work, daemon=True) for work in (self.read, self.read_errors)]
        for reader in self.readers:
            reader.start()
        self.size, self.stones, self.rule = 0, {}, 0
        self.limit, self.said = 30.0, []
        self.answered_late, self.late = 0.0, []

    def read(self):
        for line in self.process.stdout:
            self.answers.put((line.decode().strip(), time.monotonic()))

    def read_errors(self):
        self.errors.extend(self.process.stderr)

    # -- lines --

    def send(self, *lines):
        self.said += lines
        raw = b"".join(line.encode("latin-1") + b"\r\n" for line in lines)
        self.sent_at = time.monotonic()
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def answer(self, within):
        """Return the next answer that is no talk; it must come in time."""
        while True:
            try:
                text, at = self.answers.get(timeout=max(0.0, within + MARGIN + self.sent_at - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no answer in {within + MARGIN} s to {self.said[-5:]}: {self.errors}")
            assert len(text) < 1000
            if not text.startswith(("MESSAGE ", "DEBUG ")):
                self.answered_late = at - self.sent_at - within
                return text

    def expect(self, pattern, *lines, within=1.0):
        """Send lines, to which there is one answer of a form."""
        self.send(*lines)
        text = self.answer(within)
        assert re.fullmatch(pattern, text), (text, self.said[-8:], self.errors)
        return text

    def nothing_more(self):
        """See that all has been answered: the next answer belongs to the next question."""
        self.expect(r'name=".*", version=".*", author=".*", country=".*"', "ABOUT", within=START_WITHIN)

    # -- the board --

    def points(self):
        return [(x, y) for x in range(self.size) for y in range(self.size)]

    def free(self):
        return [point for point in self.points() if point not in self.stones]

    def row_through(self, owner, point):
        """Return how long a row of an owner through a point is, were the point theirs."""
        longest = 0
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            length = 1
            for sign in (-1, 1):
                x, y = point[0] + sign * dx, point[1] + sign * dy
                while self.stones.get((x, y)) == owner:
                    length, x, y = length + 1, x + sign * dx, y + sign * dy
            longest = max(longest, length)
        return longest

    def is_over(self):
        rows = (self.row_through(owner, point) for point, owner in self.stones.items() if owner != NOBODY)
        return not self.free() or self.rule & RENJU or any(row >= 5 for row in rows)

    def lines_of_board(self):
        stones = list(self.stones.items())
        self.rng.shuffle(stones)
        return ["BOARD", *(f"{x},{y},{owner}" for (x, y), owner in stones), "DONE"]

    # -- a game --

    def begin(self, size):
        word = self.rng.choice((f"START {size}", f"RECTSTART {size},{size}", f"START {self.size or size}"))
        self.expect("OK", word, within=START_WITHIN)
        self.size, self.stones = int(re.search(r"\d+", word)[0]), {}

    def asked_for_a_move(self, *lines, laid=None):
        """Ask for a move and check it; return whether the game goes on. `laid` is the stone that the lines lay."""
        answer = self.expect(r"\d+,\d+|ERROR .*", *lines, within=self.limit)
        if answer.startswith("ERROR"):  # the stone does not lie there
            before = dict(self.stones)
            self.stones |= {laid: OTHER} if laid else {}
            assert self.is_over(), (answer, self.said[-8:])
            self.stones = before
            return False
        self.stones |= {laid: OTHER} if laid else {}
        point = tuple(map(int, MOVE.fullmatch(answer).groups()))
        assert point in self.free(), (answer, self.said[-8:])
        self.stones[point] = OWN
        self.late.append(self.answered_late)
        return True

    def move(self):
        """Lay a stone, mostly to make a row, and ask for the answer; return whether the game goes on."""
        free = self.free()
        if not free:
            return False
        if not self.stones and self.rng.random() < 0.5:
            return self.asked_for_a_move("BEGIN")
        point = self.rng.choice(free)
        if self.rng.random() < 0.8:
            point = max(self.rng.sample(free, len(free)), key=lambda point: self.row_through(OTHER, point))
        if self.rng.random() < 0.7:
            return self.asked_for_a_move(f"TURN {point[0]},{point[1]}", laid=point)
        self.stones[point] = OTHER
        return self.asked_for_a_move(*self.lines_of_board())

    def aside(self):
        """Do anything else that the protocol allows, or that it does not."""
        deed = self.rng.choice((self.inform, self.inform, self.be_wrong, self.be_wrong, self.take_back, self.play,
                                self.restart, self.break_off, self.opening, self.nothing_more))  # fmt: skip
        deed()
        if self.rng.random() < 0.3:
            self.nothing_more()

    def inform(self):
        """Tell facts, to which there is no answer."""
        number = self.rng.choice((0, 1, 5, 77, 10_000, 350_000_000, 2_147_483_647, 10**17, 10**30, -3))
        rule = self.rng.choice(self.rules)
        key, value = self.rng.choice((
            ("timeout_turn", self.rng.choice((0, 20, 100))), ("timeout_match", number), ("time_left", abs(number)),
            ("max_memory", number), ("game_type", self.rng.randrange(4)), ("rule", rule), ("evaluate", "1,1"),
            ("folder", "/tmp/a folder"), ("max_depth", number), ("max_node", number), ("thread_num", 2),
            ("max_memory", "much"), ("nonsense", ""), ("", ""),
        ))  # fmt: skip
        self.send(f"INFO {key} {value}".strip(), "")
        self.limit = max(0.01, value / 1000) if key == "timeout_turn" else self.limit
        self.rule = rule if key == "rule" else self.rule
        self.nothing_more()

    def take_back(self):
        for point in self.rng.sample(sorted(self.stones), min(2, len(self.stones))):
            if self.stones[point] != NOBODY:
                self.expect("OK", f"TAKEBACK {point[0]},{point[1]}")
                del self.stones[point]

    def play(self):
        if free := self.free():
            x, y = self.rng.choice(free)
            self.expect(f"{x},{y}", f"PLAY {x},{y}")
            self.stones[x, y] = OWN

    def restart(self):
        if self.rng.random() < 0.2:
            self.expect("OK", "RESTART", within=START_WITHIN)
            self.stones = {}

    def break_off(self):
        """Begin a board and go on with something else."""
        self.expect("ERROR .*", "BOARD", "0,0,1", self.rng.choice(("TURN x", "START 99", "PLAY -1,0")))
        self.send("BOARD", "0,0,1", "INFO timeout_match 0")
        self.nothing_more()
        if self.size and self.rng.random() < 0.2:  # stones of which some are out of the game
            x, y = self.rng.randrange(self.size), self.rng.randrange(self.size)
            self.stones = {(x, y): NOBODY, ((x + 1) % self.size, y): NOBODY, (x, (y + 1) % self.size): OTHER}
            self.asked_for_a_move(*self.lines_of_board())

    def opening(self):
        """Ask for an answer in the opening, and begin anew."""
        count = self.rng.choice((0, 3, 5))
        lines = [f"{x},{y}" for x, y in self.rng.sample(self.points(), count)]
        form = r"\d+,\d+( \d+,\d+){2}" if not count else r"SWAP|\d+,\d+( \d+,\d+)?" if count == 3 else r"SWAP|\d+,\d+"
        answer = self.expect(form, "SWAP2BOARD", *lines, "DONE", within=self.limit + 1)
        laid = MOVE.findall(answer)
        assert len({*laid, *(tuple(line.split(",")) for line in lines)}) == len(laid) + count, (answer, lines)
        assert all(int(part) < self.size for point in laid for part in point)
        self.expect("OK", "RESTART", within=START_WITHIN)
        self.stones = {}

    def be_wrong(self):
        """Say what cannot be done, or means nothing: one answer says so, and nothing is changed."""
        n, taken = self.size, next(iter(self.stones), None)
        wrong = [
            "TURN", "TURN a,b", "TURN 1", "TURN 1,2,3", f"TURN {n},0", f"TURN 0,{n}", "TURN -1,0", "TURN 99999,3",
            "PLAY", f"PLAY {n},{n}", "TAKEBACK", f"TAKEBACK {n},1", "START", "START 4", "START 21", "START x",
            "START 99999999999999999999", "RECTSTART 9,10", "RECTSTART 20", "RECTSTART", "DONE", "1,2,1",
            "YXSHOWFORBID", "yxboard",
            "YXNBEST 3", "SUGGEST 1,1", "\x00\xff\xfe", "DANCE " + "x" * 5000, "TURN " + "1" * 2000, "ERROR",
        ]  # fmt: skip
        boards = [["0,0,4"], ["0,0,1", "0,0,2"], [f"{n},0,1"], ["here"], ["0,0"], ["0,0,1", "x" * 3000]]
        openings = [["0,0"], ["0,0", "0,0", "1,1"], [f"{n},0", "1,1", "2,2"], ["1,1,1"]]
        lines = self.rng.choice((
            *([line] for line in wrong),
            *(["BOARD", *lines, "DONE"] for lines in boards),
            *(["SWAP2BOARD", *lines, "DONE"] for lines in openings),
            *([[f"TURN {taken[0]},{taken[1]}"], [f"PLAY {taken[0]},{taken[1]}"], ["BEGIN"]] if self.stones else ()),
        ))  # fmt: skip
        if lines == ["BEGIN"] and set(self.stones.values()) == {NOBODY}:
            return
        self.expect("(ERROR|UNKNOWN) .+", *lines)

    def close(self):
        self.process.kill()
        for reader in self.readers:
            reader.join()
        with self.process:  # closes its pipes
            pass

    def end(self):
        """Say END, perhaps in the midst of a thought: nothing is said any more, and the process is gone."""
        self.nothing_more()
        self.expect("OK", "START 20", within=START_WITHIN)
        self.send("INFO timeout_turn 20000", "TURN 9,9", "END")
        assert self.process.wait(timeout=MARGIN) == 0
        self.readers[0].join()
        assert self.answers.empty(), self.answers.get()
        assert not self.errors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "rules", "games"),
    [
        (["--player", "random"], ALL_RULES, 50),
        (["--player", "baseline:depth=1"], FREESTYLE, 20),
        ([], ALL_RULES, 30),  # a search by time, whatever the rule
    ],
)
def test_a_manager_that_says_whatever_there_is_gets_its_games(options, rules, games):
    manager = Manager(games, rules, *options)
    try:
        manager.expect("ERROR no game is begun.*", manager.rng.choice(("BEGIN", "TURN 1,1", "RESTART", "BOARD")),
                       within=START_WITHIN)  # fmt: skip
        manager.send("INFO timeout_turn 50")
        manager.limit = 0.05
        for number in range(games):
            manager.begin((20, 15, 5, 9, manager.rng.randrange(5, 21))[number % 5])
            turns = 0
            while turns < 400 and manager.move():
                turns += 1
                if manager.rng.random() < 0.3:
                    manager.aside()
            manager.nothing_more()
            assert manager.process.poll() is None
        manager.end()
    finally:
        manager.close()
    assert len(manager.late) > 5 * games
    check_in_time(manager.late)

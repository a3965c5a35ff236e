"""A chess engine that speaks UCI: one of Lc0's networks with Lc0's search, or any player of the arena.

One thread reads lines, one thinks, and the main one obeys: it never waits for a thought, so that `stop` is answered at
once, with what is known without the network's pass, or the large tree's cut, that is under way and ends unheard. Until
it has ended nobody else thinks: the next search begins behind it, while its time runs and `stop` is heard, and what
`ucinewgame` and options want is done then. What cannot be understood or done is told in an `info string` and changes
nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import rookery
from rookery.arena.player import PlayerFailed
from rookery.engines.uci_info import Style, Told, info_lines, move_texts
from rookery.engines.uci_options import LIVE, OPTIONS, Options, read_option
from rookery.engines.uci_seat import Seat
from rookery.engines.uci_thinkers import Job, Thinker, fallback, seed_of
from rookery.engines.uci_words import LEAST, Go, read_go, read_moves, read_position
from rookery.errors import BadInput
from rookery.lc0.positions import chess_game
from rookery.search.analysis import Limits

INFO_EVERY = 1.0  # seconds
FIRST_INFO = 0.1


@dataclass
class Running:
    """A search under way, or one that waits for the end of the one before."""

    job: Job
    go: Go
    seconds: float | None
    """time for the move, from now on or from `ponderhit`"""
    thinker: Thinker | None = None
    """who thinks about it, as soon as it is begun"""
    begun: float = field(default_factory=time.monotonic)
    deadline: float | None = None
    held: bool = False
    """whether the answer waits for a word of the manager"""
    done: threading.Event = field(default_factory=threading.Event)
    told_at: float = field(default_factory=lambda: time.monotonic() + FIRST_INFO - INFO_EVERY)
    failure: str = ""


class UciEngine:
    """Our side of the protocol: lines come in by `line`, answers go out by `say`."""

    def __init__(
        self, say: Callable[[str], None], network: str = "", player: str = "", seed: int = 0,
        finished: Callable[[Running], None] = lambda running: None,
    ):  # fmt: skip
        """Make an engine; `finished` hears of the end of each thought, in the thread of the thought."""
        self.say, self.seed, self.finished_hook = say, seed, finished
        self.options = Options()
        if network:
            self.options.set("WeightsFile", network)
        self.options.hold()
        self.seat = Seat(self.options, player, self.remark, self.complain)
        self.running: Running | None = None
        """the search that is to be answered"""
        self.thought: Running | None = None
        """the search that was thought about last, answered or not"""
        self.worker: threading.Thread | None = None
        self.forgetful = False
        """whether the thinker has to forget all it knows before it thinks again"""
        self.words: list[str] = ["startpos"]
        self.position, self.start, self.moves = read_position(self.words, chess_game())

    @property
    def thinker(self) -> Thinker | None:
        """Who thinks, if there is anybody yet."""
        return self.seat.thinker

    # -- lines --

    def line(self, text: str) -> None:
        """Do what a line asks for; words before a command that is known are passed over, as the protocol wants."""
        rest = text
        while words := rest.split(maxsplit=1):
            word, rest = words[0], " ".join(words[1:])
            if (command := self.commands.get(word)) is not None:
                try:
                    command(self, rest)
                except (BadInput, PlayerFailed, OSError) as error:
                    self.complain(error)
                return
        if text.strip():
            self.remark(f"unknown command: {text.strip()[:60]}")

    def complain(self, error: Exception) -> None:
        """Tell people what could not be done; of a fault of ours, its kind too."""
        self.remark(told_error(error))

    def remark(self, text: str) -> None:
        """Tell people something, in one line of signs that can be shown."""
        shown = "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))
        self.say(f"info string {shown[:400]}")

    def uci(self, rest: str) -> None:
        """Tell who we are and what can be set."""
        self.say(f"id name Rookery {rookery.__version__}")
        self.say("id author the Rookery authors")
        for option in OPTIONS:
            self.say(option.line)
        self.say("uciok")

    def isready(self, rest: str) -> None:
        """Load and compile what is needed, then say so; at once while there is a thought, be it unheard."""
        if self.running is None and self.at_rest():
            try:
                self.seat.taken()
            except Exception as error:  # whatever is wrong, the manager waits for an answer
                self.complain(error)
        self.say("readyok")

    def pass_over(self, rest: str) -> None:
        """Hear a wish for more words, of which there are none, or of a registration, which nobody needs."""

    def setoption(self, rest: str) -> None:
        """Set an option: `name NAME value VALUE`."""
        self.set(*read_option(rest))

    def set(self, name: str, value: str) -> None:
        """Set an option to a value."""
        option = self.options.set(name, "" if value == "<empty>" else value)
        if option is None or option.idle:
            self.remark(f"option {name} has no effect here")
        elif option.name == "Clear Hash":
            self.forget()
        elif option.name not in LIVE:
            self.seat.stale = True
        if option is not None and option.name == "UCI_Chess960":
            self.position_comes(" ".join(self.words))

    def ucinewgame(self, rest: str) -> None:
        """Forget the game before."""
        self.forget()

    def forget(self) -> None:
        """Let the thinker forget all it knows, as soon as it does not think."""
        self.halt()
        self.forgetful = True
        self.at_rest()

    def position_comes(self, rest: str) -> None:
        """Take a position; one that cannot be read leaves the one before."""
        game, words = chess_game(self.options.on("UCI_Chess960")), rest.split()
        self.position, self.start, self.moves = read_position(words, game)
        self.words = words

    # -- thinking --

    def go(self, rest: str) -> None:
        """Begin to think, at once or behind a thought that has not ended."""
        self.halt()
        go, strange = read_go(rest.split())
        if strange:
            self.remark(f"go: not understood: {' '.join(strange)[:60]}")
        if not fallback(self.position):
            self.say(f"info depth 0 score {'mate 0' if self.position.state['checkers'] else 'cp 0'}")
            self.say("bestmove (none)")
            return
        rested = self.at_rest()
        try:
            if rested:
                self.seat.taken()  # whatever that takes, the time of the move is counted from now on
        except Exception as error:  # as above
            self.complain(error)
            self.answer_with(fallback(self.position)[0])
            return
        self.running = self.set_up(go)
        if rested:
            self.launch(self.running)

    def launch(self, running: Running) -> None:
        """Let a search be thought about."""
        try:
            thinker, job = self.seat.taken(), running.job
            if running.deadline is not None and job.limits.seconds is not None:
                job.limits = replace(job.limits, seconds=max(LEAST, running.deadline - time.monotonic()))
            for remark in thinker.begin(job):
                self.remark(remark)
        except Exception as error:  # as above
            self.complain(error)
            self.answer()
            return
        running.thinker, self.thought = thinker, running
        self.worker = threading.Thread(target=self.work, args=(thinker, running), daemon=True)
        self.worker.start()

    def at_rest(self) -> bool:
        """Tell whether nobody thinks; then the thinker forgets what it should."""
        if self.thought is not None and not self.thought.done.is_set():
            return False
        self.wait_for_worker()
        if self.forgetful and self.thinker is not None:
            self.thinker.new_game()
        self.forgetful = False
        return True

    def set_up(self, go: Go) -> Running:
        """Make what is needed for a search."""
        only, wrong = read_moves(self.position, go.only)
        for reason in wrong:
            self.remark(f"searchmoves: {reason}")
        overhead = self.options.number("MoveOverheadMs") / 1000
        seconds = go.seconds(int(self.position.state["chess_mover"]) == 0, overhead)
        waits = go.ponder or not go.limited
        depth, nodes = (None if go.infinite else go.at_least_one(name) for name in ("depth", "nodes"))
        limits = Limits(depth, nodes, None if waits else seconds)
        mate = None if go.infinite else go.at_least_one("mate")
        seed = seed_of(self.seed, len(self.moves))
        running = Running(Job(self.position, self.start, self.moves, limits, mate, only, seed=seed), go, seconds)
        running.held = waits
        running.deadline = None if waits or seconds is None else running.begun + seconds
        return running

    def work(self, thinker: Thinker, running: Running) -> None:
        """Think, in a thread of its own."""
        try:
            thinker.think(running.job)
        except Exception as error:  # whatever a player does, the manager gets an answer
            running.failure = told_error(error)
        running.done.set()
        self.finished_hook(running)

    def finished(self, running: Running) -> None:
        """Hear that a thought has come to its end: it is answered, or one that waits for it begins."""
        if running is self.running and not running.held:
            self.answer()
        elif self.running is not None and self.running.thinker is None and self.at_rest():
            self.launch(self.running)

    def stop(self, rest: str) -> None:
        """Answer now."""
        self.halt()

    def ponderhit(self, rest: str) -> None:
        """Hear that the move that was pondered on was made: now the time counts."""
        running = self.running
        if running is None or not running.go.ponder:
            return
        running.held = running.go.infinite
        if running.seconds is not None:
            running.deadline = time.monotonic() + running.seconds
        if running.done.is_set() and not running.held:
            self.answer()

    def halt(self) -> None:
        """End a search and answer with what is known."""
        if self.running is not None:
            self.running.job.stop[0] = 1
            if self.running.thinker is not None:
                self.running.done.wait(self.running.thinker.last_word)
            self.answer()

    def wait_for_worker(self) -> None:
        """Wait until nobody thinks any more; only where that is known to be at once, or nobody waits for us."""
        if self.worker is not None:
            self.worker.join()
            self.worker = None

    # -- answers --

    def patience(self) -> float | None:
        """Return how long nothing needs to be done, in seconds; None for ever."""
        if self.running is None:
            return None
        moments = [self.running.told_at + INFO_EVERY]
        if self.running.deadline is not None:
            moments.append(self.running.deadline)
        return max(0.0, min(moments) - time.monotonic())

    def tick(self) -> None:
        """Do what is due: tell what is known, or answer because the time is up."""
        running, now = self.running, time.monotonic()
        if running is None:
            return
        if running.deadline is not None and now >= running.deadline:
            self.halt()
        elif now >= running.told_at + INFO_EVERY:
            running.told_at = now
            self.tell(running)

    def tell(self, running: Running, last: bool = False) -> tuple[int, ...]:
        """Tell what is known; return the best play."""
        style = Style(
            self.options.values["ScoreType"], self.options.on("UCI_ShowWDL"), self.options.on("UCI_ShowMovesLeft"),
            self.options.number("MultiPV"),
        )  # fmt: skip
        told = self.known(running, style.lines, last and self.options.on("VerboseMoveStats"))
        if told is None:
            return ()
        if last:
            for line in told.verbose:
                self.say(f"info string {line}")
        for line in info_lines(told, running.job.position, time.monotonic() - running.begun, style):
            self.say(line)
        return told.moves

    def known(self, running: Running, lines: int, verbose: bool) -> Told | None:
        """Return what is known of a search; of one that waits, what the one before it has found."""
        if running.thinker is not None:
            return running.thinker.told(running.job, lines, verbose)
        usable = self.thinker is not None and not self.forgetful and not self.seat.stale
        return self.thinker.told_before(running.job, lines) if self.thinker is not None and usable else None

    def answer(self) -> None:
        """Say what is known and the best move; nobody waits for the thought any more."""
        running, self.running = self.running, None
        assert running is not None
        if running.failure:
            self.remark(running.failure)
        best = self.tell(running, last=True)
        best = best or (running.job.only or tuple(fallback(running.job.position)))[:1]
        texts = move_texts(best[:2], running.job.position)
        self.say(" ponder ".join([f"bestmove {texts[0]}", *texts[1:]]))

    def answer_with(self, action: int) -> None:
        """Answer with a move that nobody has thought about."""
        self.say(f"bestmove {self.position.move_text(action)}")

    commands = {
        "uci": uci, "isready": isready, "debug": pass_over, "register": pass_over, "setoption": setoption,
        "ucinewgame": ucinewgame, "position": position_comes, "go": go, "stop": stop, "ponderhit": ponderhit,
    }  # fmt: skip


def told_error(error: Exception) -> str:
    """Say what went wrong; of a fault of ours, its kind too."""
    known = isinstance(error, BadInput | PlayerFailed | OSError)
    return f"error: {error}" if known else f"fault: {type(error).__name__}: {error}"

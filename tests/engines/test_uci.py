"""Our side of UCI: what is answered, what is refused, and when."""

from __future__ import annotations

import queue
import re
import threading
import time

import chess
import numpy as np
import pytest

from arena.scripted import random_lc0_network
from lc0.broken import stored_broken
from lc0_files import random_net
from nets.samples import on_one_thread
from rookery.engines.uci import Running, UciEngine
from rookery.engines.uci_info import middle_of, per_mille, score_of
from rookery.engines.uci_options import OPTIONS, Options
from rookery.engines.uci_process import run, serve
from rookery.engines.uci_thinkers import PlayerThinker
from rookery.engines.uci_words import read_go, read_position
from rookery.errors import BadInput
from rookery.lc0.evaluator import Evaluator
from rookery.lc0.positions import chess_game
from rookery.nets.lc0.files import file_bytes
from rookery.search.lc0_arrays import keep_subtree, room
from support import ROOT

pytestmark = pytest.mark.xdist_group("chess")  # so that nothing is compiled twice
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


@pytest.fixture(autouse=True)
def one_thread():
    with on_one_thread():
        yield


@pytest.fixture(scope="module")
def network():
    return random_lc0_network()


class Told(UciEngine):
    """An engine whose answers are kept, with a loop like that of the process."""

    def __init__(self, **more):
        self.answers: list[str] = []
        self.events: queue.Queue[Running] = queue.Queue()
        super().__init__(self.answers.append, finished=self.events.put, **more)

    def ask(self, *lines):
        """Obey lines and return what is said to them at once."""
        self.answers.clear()
        for line in lines:
            self.line(line)
        return list(self.answers)

    def wait(self, seconds=60.0):
        """Go on until the best move is said; return all that is said."""
        end = time.monotonic() + seconds
        while not any(answer.startswith("bestmove") for answer in self.answers):
            assert time.monotonic() < end, self.answers
            self.pump(0.02)
        return list(self.answers)

    def pump(self, seconds):
        """Do what comes up for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            patience = self.patience()
            try:
                self.finished(self.events.get(timeout=left if patience is None else min(left, patience)))
            except queue.Empty:
                self.tick()

    def best(self, *lines):
        """Obey lines and return the best move that is answered."""
        self.ask(*lines)
        return self.wait()[-1].split()[1]


@pytest.fixture
def engine(network):
    made = Told(network=network)
    made.ask("setoption name RamLimitMb value 16", "setoption name NNCacheSize value 1000")
    yield made
    made.halt()
    made.wait_for_worker()


# ---- words ---------------------------------------------------------------------------------------


def test_the_engine_tells_its_options_as_a_manager_reads_them():
    answers = Told(player="random").ask("uci")
    assert answers[0].startswith("id name Rookery")
    assert answers[-1] == "uciok"
    form = re.compile(r"option name (.+) type (check|spin|string|combo|button)( default .+)?")
    assert [form.fullmatch(line)[1] for line in answers[2:-1]] == [option.name for option in OPTIONS]


def test_the_page_lists_every_option_with_its_default():
    rows = re.findall(r"^\| `([\w ]+)` \| (\S+) \| (.+) \|$", (ROOT / "docs" / "lc0.md").read_text(), re.M)
    told = {name: (default, meaning) for name, default, meaning in rows}
    for option in OPTIONS:
        default, meaning = told[option.name]
        assert default == (option.default or "-")
        assert meaning.startswith(option.meaning or f"the same as `{option.same_as}`")


def test_every_default_is_a_value_that_the_option_takes():
    for option in OPTIONS:
        if option.kind != "button":
            assert Options().set(option.name, option.default).name == (option.same_as or option.name)
    made = Options()
    for name, value in [("cpuct", "2.5"), ("policy softmax temp", "1"), ("HASH", "64"), ("two-fold draws", "FALSE")]:
        made.set(name, value)
    settings = made.settings(7)
    assert (settings.cpuct, settings.policy_temperature, settings.two_fold, settings.batch) == (2.5, 1, "off", 7)
    assert made.number("RamLimitMb") == 64


def test_options_that_lc0_always_shows_are_told_of_and_those_without_effect_say_so():
    shown = {
        "WeightsFile", "Threads", "MultiPV", "SyzygyPath", "Ponder", "UCI_Chess960", "UCI_ShowWDL", "UCI_ShowMovesLeft",
        "MoveOverheadMs", "RamLimitMb", "LogFile", "Contempt",
    }  # fmt: skip
    assert shown <= {option.name for option in OPTIONS}
    engine = Told(player="random")
    engine.seat.stale = False
    for option in OPTIONS:
        if option.idle:
            answers = engine.ask(f"setoption name {option.name} value {option.default}")
            assert answers == [f"info string option {option.name} has no effect here"]
    assert not engine.seat.stale


@pytest.mark.parametrize(
    ("name", "value"),
    [("CPuct", "much"), ("CPuct", "-1"), ("MultiPV", "0"), ("MultiPV", "3.5"), ("UCI_ShowWDL", "maybe"),
     ("ScoreType", "guess"), ("SmartPruningFactor", "nan"), ("Nonsense", "1"), ("", "")],
)  # fmt: skip
def test_values_that_are_not_allowed_are_refused_and_change_nothing(name, value):
    made = Options()
    before = dict(made.values)
    with pytest.raises(BadInput):
        made.set(name, value)
    assert made.values == before


def test_what_a_search_may_spend_is_read_from_any_order_of_words():
    go, strange = read_go(
        ["wtime", "60000", "searchmoves", "e2e4", "d2d4", "winc", "1000", "nodes", "50", "what", "btime", "-5"]
    )
    assert go.numbers == {"wtime": 60000, "winc": 1000, "nodes": 50, "btime": -5}
    assert go.only == ("e2e4", "d2d4")
    assert strange == ["what"]
    assert go.seconds(True, 0.2) == pytest.approx((60 - 0.2) / 30 + 0.75)
    assert go.seconds(False, 0.2) == 0.005  # an overdrawn clock
    assert read_go(["wtime", "60000", "btime", "60000", "movestogo", "1"])[0].seconds(True, 0.0) == pytest.approx(54)
    assert read_go(["movetime", "1000"])[0].seconds(True, 0.2) == pytest.approx(0.9)
    assert read_go(["infinite", "movetime", "1000"])[0].seconds(True, 0.2) is None
    assert read_go(["nodes"]) == (read_go([])[0], ["nodes"])


def test_positions_go_on_through_draws_that_nobody_claimed():
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 40
    position, start, made = read_position(["startpos", "moves", *moves], chess_game())
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    assert chess_game().fen(position.state).split()[:5] == board.fen().split()[:5]
    assert len(made) < len(moves)
    for action in made:
        from rookery.games.rules import play

        play(start.state, action)
    assert (start.states == position.states).all()


# ---- scores --------------------------------------------------------------------------------------


def test_moves_may_be_counted_from_0():
    words = ["fen", "4k3/8/8/8/8/8/4P3/4K3", "b", "-", "-", "7", "0", "moves", "e8d7"]
    position, _, moves = read_position(words, chess_game())
    assert chess_game().fen(position.state) == "8/3k4/8/8/8/8/4P3/4K3 w - - 8 2"
    assert len(moves) == 1


def test_scores_follow_their_formulas():
    assert score_of(0.5, 0.0, "Q") == 5000
    assert score_of(0.5, 0.0, "win_percentage") == 7500
    assert score_of(0.5, 0.0, "centipawn") == 89
    assert middle_of(0.5, 0.3, 0.2) == pytest.approx(100)  # a = ln 4, b = 0
    assert middle_of(0.3, 0.4, 0.3) == 0
    assert middle_of(1.0, 0.0, 0.0) > 10_000
    assert score_of(1.0, 0.0, "WDL_mu") == 12_800
    for chances in [(0.3333, 0.3333, 0.3334), (1, 0, 0), (0.0005, 0.9990, 0.0005), (0.9995, 0.0, 0.0005)]:
        assert sum(per_mille(*chances)) == 1000
        assert min(per_mille(*chances)) >= 0


# ---- thinking ------------------------------------------------------------------------------------


def test_a_search_of_nodes_ends_with_a_legal_move_and_tells_its_line(engine):
    engine.ask("position startpos moves e2e4 c7c5", "go nodes 60")
    answers = engine.wait()
    best = answers[-1].split()
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("c7c5")
    assert chess.Move.from_uci(best[1]) in board.legal_moves
    info = next(answer for answer in reversed(answers) if answer.startswith("info depth"))
    assert " nodes 60 " in info
    line = info.partition(" pv ")[2].split()
    assert line[0] == best[1]
    assert best[2:] == ["ponder", line[1]]
    for move in line:
        board.push_uci(move)


def test_lines_chances_and_moves_left_are_told_if_wanted(engine):
    for name, value in [("MultiPV", 3), ("UCI_ShowWDL", "true"), ("UCI_ShowMovesLeft", "true")]:
        assert engine.ask(f"setoption name {name} value {value}") == []
    engine.ask("position startpos", "go nodes 80")
    infos = [answer for answer in engine.wait() if answer.startswith("info depth")][-3:]
    assert [re.search(r"multipv (\d)", info)[1] for info in infos] == ["1", "2", "3"]
    assert len({info.partition(" pv ")[2].split()[0] for info in infos}) == 3
    for info in infos:
        assert sum(map(int, re.search(r"wdl (\d+) (\d+) (\d+)", info).groups())) == 1000
        assert re.search(r"movesleft \d+", info)


def test_all_is_told_of_each_move_with_verbose_move_stats(engine):
    engine.ask("setoption name VerboseMoveStats value true")
    engine.ask("position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "go nodes 40")
    lines = [answer for answer in engine.wait() if answer.startswith("info string")]
    form = re.compile(
        r"info string (\S+) +\((\d+) *\) N: +(\d+) \(\+ *\d+\) \(P: *([\d.]+)%\) \(WL: *\S+\) \(D: \S+\) \(M: *\S+\) "
        r"\(Q: *\S+\)( \(U: \S+\) \(S: *\S+\))? \(V: +\S+\)"
    )
    read = [form.fullmatch(line) for line in lines]
    assert all(read)
    assert read[-1][1] == "node"
    assert sum(int(line[3]) for line in read[:-1]) == 39
    assert sum(float(line[4]) for line in read[:-1]) == pytest.approx(100, abs=0.5)
    assert {"e1h1", "e1a1"} <= {line[1] for line in read}
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert len(read) - 1 == board.legal_moves.count()


def test_only_wanted_moves_are_played(engine):
    assert engine.best("position startpos", "go nodes 30 searchmoves a2a3") == "a2a3"


def test_moves_that_cannot_be_searched_are_told_of_and_left_out(engine):
    engine.ask("position startpos", "go nodes 20 searchmoves e2e5 h2h3 Nf3")
    answers = engine.wait()
    assert answers[0].startswith("info string searchmoves: e2e5 is not legal")
    assert answers[1].startswith("info string searchmoves: 'Nf3' is no move")
    assert answers[-1].split()[1] == "h2h3"
    engine.ask("go nodes 60 searchmoves e2e5")
    answers = engine.wait()
    assert answers[-1].startswith("bestmove ")
    assert "nodes 60" in answers[-2]


def test_stop_is_answered_at_once_and_nothing_is_said_before(engine):
    engine.best("go nodes 1")  # all is compiled
    engine.ask("position startpos", "go infinite")
    engine.pump(0.3)
    assert not [answer for answer in engine.answers if answer.startswith("bestmove")]
    began = time.perf_counter()
    answers = engine.ask("stop")
    assert time.perf_counter() - began < 0.5
    assert answers[-1].startswith("bestmove ")
    assert engine.ask("stop") == []


def test_stop_does_not_wait_for_a_pass_of_the_network(engine, monkeypatch):
    engine.best("go nodes 1")
    evaluator, holds = engine.thinker.evaluator, threading.Event()
    run_network = evaluator.run

    def slow(masks, values):
        if engine.thinker.searcher.visits > 5:
            holds.wait(20)
        return run_network(masks, values)

    monkeypatch.setattr(evaluator, "run", slow)
    engine.ask("position startpos moves d2d4", "go infinite")
    while engine.thinker.searcher.visits <= 5:
        time.sleep(0.01)
    began = time.perf_counter()
    assert engine.ask("stop")[-1].startswith("bestmove ")
    assert time.perf_counter() - began < 5
    holds.set()
    assert engine.best("go nodes 20")


class Held:
    """A pass of the network that does not end until it is let go."""

    def __init__(self, engine, monkeypatch):
        self.inside, self.goes_on, self.engine = threading.Event(), threading.Event(), engine
        run_network = engine.thinker.evaluator.run

        def slow(masks, values):
            if engine.thinker.searcher.visits > 5:
                self.inside.set()
                assert self.goes_on.wait(60)
            return run_network(masks, values)

        monkeypatch.setattr(engine.thinker.evaluator, "run", slow)

    def begin(self, *lines):
        """Let the engine think until the pass is under way, and stop it."""
        self.engine.ask(*lines, "go infinite")
        assert self.inside.wait(60)
        told = self.engine.ask("stop")
        assert told[-1].startswith("bestmove ")
        return told

    def let_go(self):
        self.goes_on.set()


@pytest.fixture
def held(engine, monkeypatch):
    engine.best("go nodes 1")
    made = Held(engine, monkeypatch)
    yield made
    made.let_go()


def test_everything_is_answered_while_an_old_pass_goes_on(engine, held):
    held.begin("position startpos moves d2d4")
    assert engine.ask("isready") == ["readyok"]
    assert engine.ask("setoption name CPuct value 2", "isready") == ["readyok"]
    assert engine.ask("ucinewgame", "setoption name Clear Hash") == []
    assert engine.ask(f"position fen {AFTER_E4}", "go nodes 5") == []
    engine.pump(0.1)
    assert engine.ask("isready") == ["readyok"]
    (best,) = engine.ask("stop")
    assert chess.Move.from_uci(best.split()[1]) in chess.Board(AFTER_E4).legal_moves
    assert engine.ask("stop") == []
    assert not held.goes_on.is_set()


def test_a_search_begins_behind_an_old_pass_and_hears_nothing_of_it(engine, held):
    held.begin("position startpos moves d2d4")
    engine.ask("ucinewgame", "setoption name MinibatchSize value 2", f"position fen {AFTER_E4}", "go nodes 5")
    waiting = engine.running
    engine.pump(0.1)
    assert engine.running is waiting
    held.let_go()
    answers = engine.wait()
    assert [answer.split()[0] for answer in answers].count("bestmove") == 1
    assert " nodes 5 " in answers[-2]
    board = chess.Board(AFTER_E4)
    for move in answers[-2].partition(" pv ")[2].split():
        board.push_uci(move)
    assert engine.thinker.searcher.settings.batch == 2
    assert engine.thinker.searcher.visits == 5


def test_a_search_that_waits_for_an_old_pass_keeps_its_time(engine, held):
    held.begin("position startpos moves d2d4")
    engine.ask("position startpos moves e2e4", "go movetime 50")
    assert engine.wait(30)[-1].startswith("bestmove ")
    engine.ask("go ponder movetime 50")
    engine.pump(0.1)
    assert engine.answers == []
    engine.line("ponderhit")
    assert engine.wait(30)[-1].startswith("bestmove ")
    assert engine.ask("go nodes 1 searchmoves h7h6", "stop") == ["bestmove h7h6"]
    assert not held.goes_on.is_set()


def test_a_search_that_waits_for_an_old_pass_knows_what_that_search_has_found(engine, held):
    held.begin("position startpos")
    searcher = engine.thinker.searcher
    line = searcher.found().moves[0].line
    position = chess_game().start()
    position.play(line[0])
    known = searcher.known_of(position)
    assert known.visits > 0
    told = engine.ask(f"position startpos moves {chess_game().start().move_text(line[0])}", "go infinite", "stop")
    assert told[-1].split()[1] == position.move_text(known.action)
    assert f" nodes {known.visits} " in told[-2]
    assert len(engine.ask("ucinewgame", "go infinite", "stop")) == 1  # of the game before nothing is told
    assert not held.goes_on.is_set()


def test_stop_does_not_wait_for_the_part_of_a_tree_that_is_kept(engine, monkeypatch):
    engine.ask("position startpos", "go nodes 300")
    line = engine.wait()[-2].partition(" pv ")[2].split()
    searcher, goes_on, kept = engine.thinker.searcher, threading.Event(), []

    def slow(arrays, top):
        assert goes_on.wait(60)
        keep_subtree(arrays, top)
        kept.append(top)

    monkeypatch.setattr("rookery.lc0.search.keep_subtree", slow)
    known = visits_of_node(searcher, line[0])
    engine.ask(f"position startpos moves {line[0]}", "go infinite")
    told = engine.ask("stop")
    assert told[-1].split()[:2] == ["bestmove", line[1]]  # what the search before has found
    assert f" nodes {known} " in told[-2]
    assert not kept
    goes_on.set()
    engine.ask("go nodes 1")
    engine.wait()
    assert len(kept) == 1
    assert searcher.visits == known


def visits_of_node(searcher, move):
    """Return how often the position after a move has been visited."""
    return int(searcher.arrays.nodes[searcher.child_of(0, chess_game().start().action(move))]["visits"])


def test_a_search_that_is_done_holds_its_answer_until_it_is_asked_for(engine):
    engine.ask("position startpos", "go ponder nodes 10 movetime 60000")
    assert engine.running.done.wait(30)
    engine.pump(0.05)
    assert not [answer for answer in engine.answers if answer.startswith("bestmove")]
    engine.line("ponderhit")
    assert engine.answers[-1].startswith("bestmove ")


def test_after_ponderhit_the_time_counts(engine):
    engine.ask("setoption name MoveOverheadMs value 0", "position startpos", "go ponder wtime 9000 btime 9000")
    engine.pump(0.5)
    assert engine.running is not None
    engine.line("ponderhit")
    began = time.monotonic()
    engine.wait()
    assert 0.1 < time.monotonic() - began < 5


def test_a_move_takes_the_time_it_has(engine):
    engine.best("go nodes 1")
    began = time.monotonic()
    engine.ask("setoption name SmartPruningFactor value 0", "position startpos", "go movetime 400")
    engine.wait()
    assert 0.3 < time.monotonic() - began < 5


def test_a_mate_is_told_and_ends_a_search_for_it(engine):
    engine.ask("position fen 6k1/5ppp/8/8/8/8/1r3PPP/3R2K1 w - - 0 1", "go mate 1")
    answers = engine.wait()
    assert "score mate 1 " in answers[-2]
    assert answers[-1].startswith("bestmove d1d8")


def test_a_search_for_a_shorter_mate_than_there_is_ends_with_what_is_proven(engine):
    engine.ask("position fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "go mate 1")
    assert "score mate 2" in engine.wait()[-2]


def test_positions_without_moves_are_answered(engine):
    mate, stalemate = "7k/5QQ1/8/8/8/8/8/K7 b - - 0 1", "7k/5Q2/8/8/8/8/8/K7 b - - 0 1"
    assert engine.ask(f"position fen {mate}", "go nodes 5") == ["info depth 0 score mate 0", "bestmove (none)"]
    assert engine.ask(f"position fen {stalemate}", "go nodes 5") == ["info depth 0 score cp 0", "bestmove (none)"]


def test_chess960_castles_as_the_king_taking_his_rook(engine):
    fen = "4k3/8/8/8/8/8/8/RK5R w HA - 0 1"
    engine.ask("setoption name UCI_Chess960 value true", f"position fen {fen} moves b1h1")
    board = chess.Board(fen, chess960=True)
    board.push_uci("b1h1")
    assert chess_game(True).fen(engine.position.state).split()[0] == board.board_fen()
    engine.ask(f"position fen {fen}")
    assert engine.best("go nodes 10 searchmoves b1h1") == "b1h1"
    engine.ask("setoption name UCI_Chess960 value false", "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert engine.best("go nodes 10 searchmoves e1g1") == "e1g1"
    assert engine.best("go nodes 10 searchmoves e1a1") == "e1c1"


def test_the_tree_is_kept_from_move_to_move_and_forgotten_by_ucinewgame(engine):
    engine.ask("setoption name MinibatchSize value 1", "position startpos", "go nodes 300")
    line = engine.wait()[-2].partition(" pv ")[2].split()
    engine.ask(f"position startpos moves {line[0]} {line[1]}", "go nodes 1")
    engine.wait()
    assert engine.thinker.searcher.visits > 1
    engine.ask("ucinewgame", f"position startpos moves {line[0]} {line[1]}", "go nodes 1")
    engine.wait()
    assert engine.thinker.searcher.visits == 1


def test_another_network_may_be_named_at_any_time(engine, network, tmp_path):
    engine.best("go nodes 2")
    before = engine.thinker
    engine.ask("setoption name WeightsFile value /no/such/file")
    answers = engine.ask("isready")
    assert answers[0].startswith("info string error")
    assert answers[-1] == "readyok"
    assert engine.best("go nodes 2")
    assert engine.thinker is before
    other = tmp_path / "a  network\u00a0of   value 1.pb.gz"
    other.write_bytes(file_bytes(random_net("attention, map", 1)))
    engine.ask(f"setoption name WeightsFile value {other}")
    assert engine.best("go nodes 2")
    assert engine.thinker is not before
    assert engine.thinker.name == str(other)


def test_getting_ready_asks_the_network_little_however_large_its_batches(network, monkeypatch):
    asked, run_network = [], Evaluator.run

    def counted(evaluator, masks, values):
        asked.append(len(masks))
        return run_network(evaluator, masks, values)

    monkeypatch.setattr(Evaluator, "run", counted)
    engine = Told(network=network)
    assert engine.ask("setoption name MinibatchSize value 256", "isready") == ["readyok"]
    assert 2 < sum(asked) < 20


@pytest.mark.parametrize("wrong", ["PolicyHead value nobody", "WeightsFile value /no/such/file"])
def test_an_option_that_cannot_be_does_not_keep_others_from_holding(engine, wrong):
    engine.best("go nodes 2")
    answers = engine.ask(f"setoption name {wrong}", "setoption name RamLimitMb value 1", "isready")
    assert [answer.startswith("info string error") for answer in answers] == [True, False]
    assert engine.thinker.searcher.memory_bytes < 2 << 20
    assert engine.ask("setoption name CPuct value 2", "isready") == ["readyok"]
    assert engine.thinker.searcher.settings.cpuct == 2


@pytest.mark.parametrize("name", ["WeightsFile", "weights", "EvalFile", "network-file"])
def test_a_network_that_cannot_be_read_leaves_the_one_the_engine_was_started_with(network, tmp_path, name):
    cut, page = tmp_path / "cut.pb.gz", tmp_path / "page.pb.gz"
    cut.write_bytes(file_bytes(random_net("attention, map"))[:-300])
    page.write_bytes(b"<html>")
    engine = Told(network=network)
    engine.ask("setoption name RamLimitMb value 16")
    for wrong in (cut, page, tmp_path, tmp_path / "none"):
        answers = engine.ask(f"setoption name {name} value {wrong}", "isready")
        assert answers[0].startswith("info string error: ")
        assert wrong.name in answers[0]
        assert answers[1:] == ["readyok"]
        assert engine.thinker.name == network
        assert engine.thinker.searcher.memory_bytes < 80 << 20
        engine.ask("position startpos", "go nodes 5")
        answers = engine.wait()
        assert not [answer for answer in answers if answer.startswith("info string")]
        assert " nodes 5 " in answers[-2]


def test_without_a_network_before_the_usual_player_plays_on(tmp_path):
    engine = Told()
    answers = engine.ask(f"setoption name WeightsFile value {tmp_path / 'none'}", "isready")
    assert answers[0].startswith("info string error: ")
    assert answers[1:] == ["info string no network is named by WeightsFile or --network; alphabeta plays", "readyok"]
    engine.ask("position startpos", "go depth 2")
    assert engine.wait()[-2].startswith("info depth 2 ")


@pytest.mark.parametrize("error", [MemoryError("no room"), RuntimeError("a fault"), OSError("the disk is gone")])
def test_whatever_happens_to_another_network_the_one_before_plays_on(engine, monkeypatch, tmp_path, error):
    before = engine.best("go nodes 20")

    def fail(*given):
        raise error

    monkeypatch.setattr("rookery.engines.uci_thinkers.load", fail)
    answers = engine.ask(f"setoption name WeightsFile value {tmp_path / 'other.pb.gz'}", "isready")
    assert str(error) in answers[0]
    assert answers[1:] == ["readyok"]
    assert engine.best("go nodes 20") == before
    answers = engine.ask("setoption name MinibatchSize value 3", "isready")  # which reads the network again
    assert str(error) in answers[0]
    assert engine.best("go nodes 20") == before


def test_a_network_that_answers_with_no_numbers_leaves_the_one_before(engine, network, tmp_path):
    before = engine.best("go nodes 20")
    answers = engine.ask(f"setoption name WeightsFile value {stored_broken(tmp_path, 'ip_val_b')}", "isready")
    assert "are not finite" in answers[0]
    assert answers[1:] == ["readyok"]
    assert engine.thinker.name == network
    assert engine.best("go nodes 20") == before


def test_memory_that_is_not_there_leaves_the_search_as_it_was(engine, monkeypatch):
    engine.best("go nodes 2")
    before = engine.thinker.searcher.room
    engine.ask("setoption name RamLimitMb value 262144", "setoption name CPuct value 2")
    monkeypatch.setattr("rookery.lc0.search.room", refusing(before))
    answers = engine.ask("isready")
    assert "there is no memory" in answers[0]
    assert answers[-1] == "readyok"
    assert (engine.thinker.searcher.room, engine.thinker.searcher.settings.cpuct) == (before, 2)


def refusing(most):
    """Make room for trees of so many nodes, and none for larger ones."""

    def made(game, options, batch, nodes, remembered):
        if nodes > most:
            raise MemoryError
        return room(game, options, batch, nodes, remembered)

    return made


def test_a_network_that_answers_with_no_numbers_is_told_of_and_a_legal_move_is_played(tmp_path):
    broken = str(stored_broken(tmp_path, "ip_val_b"))
    engine = Told(network=broken)
    told, ready = engine.ask("isready")
    assert told.startswith(f"info string error: network '{broken}' answers with numbers that are not finite")
    assert ready == "readyok"
    told, best = engine.ask("position startpos moves e2e4", "go nodes 10")
    assert "are not finite" in told
    assert chess.Move.from_uci(best.split()[1]) in chess.Board(AFTER_E4).legal_moves


def test_a_search_that_meets_no_numbers_ends_with_what_is_known(engine, monkeypatch):
    engine.best("go nodes 1")
    evaluator = engine.thinker.evaluator
    run_network = evaluator.run

    def overflowing(masks, values):
        answers = run_network(masks, values)
        return answers if engine.thinker.searcher.visits < 20 else answers + np.float32("inf")

    monkeypatch.setattr(evaluator, "run", overflowing)
    engine.ask("position startpos moves e2e4", "go nodes 500")
    answers = engine.wait()
    assert "are not finite" in next(answer for answer in answers if answer.startswith("info string error: network"))
    info, best = answers[-2:]
    assert 20 <= int(re.search(r" nodes (\d+) ", info)[1]) < 500
    assert info.partition(" pv ")[2].split()[0] == best.split()[1]
    assert np.isfinite([move.q for move in engine.thinker.searcher.found().moves]).all()


# ---- players -------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", ["random", "greedy"])
def test_any_player_may_sit_behind_the_engine(player):
    engine = Told(player=player)
    board = chess.Board()
    for _ in range(6):
        moves = " moves " + " ".join(move.uci() for move in board.move_stack) if board.move_stack else ""
        board.push_uci(engine.best(f"position startpos{moves}", "go movetime 50"))  # which must be legal
    assert len(board.move_stack) == 6


@pytest.mark.parametrize("error", [OSError("the disk is full"), MemoryError("no room")])
def test_what_keeps_a_player_from_getting_ready_is_told_and_the_manager_gets_its_answers(monkeypatch, error):
    def prepare(thinker):
        raise error

    monkeypatch.setattr(PlayerThinker, "prepare", prepare)
    engine = Told(player="random")
    told, ready = engine.ask("isready")
    assert str(error) in told
    assert ready == "readyok"
    told, best = engine.ask("go nodes 1")
    assert str(error) in told
    assert best.startswith("bestmove ")


def test_a_player_goes_no_deeper_than_it_is_allowed():
    engine = Told(player="alphabeta")
    engine.ask("position startpos", "go depth 2")
    info = engine.wait()[-2]
    assert info.startswith("info depth 2 ")
    engine.ask("position fen 6k1/5ppp/8/8/8/8/1r3PPP/3R2K1 w - - 0 1", "go depth 3")
    assert engine.wait()[-1].startswith("bestmove d1d8")


def test_a_player_plays_on_in_a_drawn_position():
    engine = Told(player="greedy")
    repeated = "position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 3
    assert engine.best(repeated, "go depth 1")
    assert engine.best("position fen 8/8/4k3/8/8/3K4/8/8 w - - 0 80", "go depth 1")


def test_a_player_that_fails_still_leaves_an_answer(monkeypatch):
    engine = Told(player="random")
    engine.best("go nodes 1")

    def fail(turn):
        raise RuntimeError("no idea")

    monkeypatch.setattr(engine.thinker.player, "choose", fail)
    engine.ask("position startpos", "go nodes 1")
    answers = engine.wait()
    assert answers[0] == "info string fault: RuntimeError: no idea"
    assert answers[-1].startswith("bestmove ")


def test_wrong_players_networks_and_options_are_refused_before_anybody_waits(tmp_path):
    for wrong in ({"player": "nobody"}, {"player": "human"}, {"network": "/no/such/file"}, {"options": ["A=1"]}):
        with pytest.raises(BadInput):
            run(**wrong)
    with pytest.raises(BadInput, match="not both"):
        run("net", "random")
    for content, message in ((b"", "it is empty"), (b"<html>", "a web page"), (b"\x1f\x8b\x08", "cannot be read")):
        wrong = tmp_path / "wrong.pb.gz"
        wrong.write_bytes(content)
        with pytest.raises(BadInput, match=message):
            run(str(wrong))


# ---- lines that mean nothing ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("dance", "info string unknown command: dance"),
        ("setoption", "info string error: setoption should"),
        ("setoption name Nothing value 1", "info string error: there is no option 'Nothing'"),
        ("setoption name LogFile value x", "info string option LogFile has no effect here"),
        ("position", "info string error: position should"),
        ("position fen 8/8/8 w", "info string error: FEN"),
        ("position startpos moves e2e5", "info string error: e2e5 is not legal"),
        ("position startpos moves Nf3", "info string error: 'Nf3' is no move"),
    ],
)
def test_what_cannot_be_understood_is_told_and_changes_nothing(line, answer):
    engine = Told(player="random")
    engine.ask("position startpos moves e2e4")
    assert engine.ask(line)[0].startswith(answer)
    assert engine.words == ["startpos", "moves", "e2e4"]


# ---- the process ---------------------------------------------------------------------------------


class Left(Exception):
    pass


def served(lines, **more):
    """Let an engine obey lines to the end of the input; return what it says."""
    answers = []

    def leave():
        if threading.current_thread() is threading.main_thread():
            raise Left

    with pytest.raises(Left):
        serve(lines, answers.append, leave, **more)
    return answers


def test_the_end_of_the_input_and_quit_end_a_search():
    for last in ([], ["quit\n", "go nodes 1\n"]):
        answers = served(["isready\n", "position startpos\r\n", "go infinite\n", *last], player="random")
        assert answers[0] == "readyok"
        assert [answer.split()[0] for answer in answers].count("bestmove") == 1


def test_options_of_the_command_line_are_set():
    answers = served(["go depth 1\n"], player="greedy", options=[("MultiPV", "2")])
    assert any("multipv 2" in answer for answer in answers) or answers[-1].startswith("bestmove")

"""What the commands of the Texas 42 study do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rookery.cli.shared import chosen_device, deadline
from rookery.cli.study import bar_until_interrupt, circumstances, listed, told
from rookery.errors import BadInput

if TYPE_CHECKING:
    from rookery.learn.spread import Spreader
    from rookery.studies.texas42_pieces import Piece
    from rookery.studies.texas42_plan import Hands, Positions, Preset, TrainSettings
    from rookery.studies.texas42_tables import Tables


@dataclass
class Whole:
    """The whole study, piece by piece."""

    folder: Path
    plan: Preset
    device: str
    threads: int
    until: float
    """when to stop, on the clock of `time.monotonic`"""
    compiled: bool = False
    begun: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.loaded = Loaded(self.folder, self.device, self.threads)

    def do(self, piece: Piece) -> None:
        """Do a piece; when time is up, the command ends. The first piece is always begun, and the report written."""
        from rookery.studies.texas42_pieces import CHOICES, CLAIM, REPORT
        from rookery.studies.texas42_plan import Hands, Positions, TrainSettings
        from rookery.studies.texas42_trial import TRIAL

        if self.begun and piece.name != REPORT and time.monotonic() >= self.until:
            stopped(piece.name)
        self.begun = True
        if isinstance(piece.what, TrainSettings):
            train_run(self.folder, piece.what, self.loaded, self.until)
        elif isinstance(piece.what, Positions | Hands):
            with made_alone(self.folder, piece.name, self.until):
                self.fill(piece)
        elif piece.name == TRIAL:
            make_the_trial(self.folder, *self.plan.trial, piece.needs, self.threads, 0, self.until)
        elif piece.name == CHOICES:
            judge_choices(self.folder, self.device, self.threads)
        elif piece.name == CLAIM:
            compare_labels(self.folder)
        elif piece.name == REPORT:
            write_the_report(self.folder)
        else:
            play_match(self.folder, piece.name, self.plan.deals, self.device, self.threads)

    def fill(self, piece: Piece) -> None:
        """Make a set of data, unless another process has."""
        from rookery.studies.texas42_pieces import is_done
        from rookery.studies.texas42_plan import Hands, Positions

        if is_done(self.folder, self.plan, piece):
            return
        if isinstance(piece.what, Positions):
            self.fill_positions(piece.what)
        elif isinstance(piece.what, Hands):
            self.fill_hands(piece.what)

    def fill_positions(self, wanted: Positions) -> None:
        """Make a set of positions."""
        fill_positions(
            self.folder, wanted.name, wanted.deals, seed=0, threads=self.threads, until=self.until, **wanted.settings
        )

    def fill_hands(self, wanted: Hands) -> None:
        """Make a set of decisions."""
        settings = {name: value for name, value in wanted.settings.items() if name != "oracle"}
        files = [
            name if name in ("", "exact") else network_of_run(self.folder, name)
            for name in (wanted.oracle, wanted.second)
        ]
        fill_decisions(
            self.folder, wanted.name, wanted.games, seed=0, files=files, device=self.device, threads=self.threads,
            until=self.until, compiled=self.compiled, **settings,
        )  # fmt: skip


@contextmanager
def made_alone(folder: Path, name: str, until: float) -> Iterator[None]:
    """Make something alone: wait while another process of this study makes it."""
    from rookery.learn.locks import patient_lock

    (folder / "data").mkdir(parents=True, exist_ok=True)
    over, waiting = lambda: time.monotonic() >= until, lambda: told(f"{name}: another process makes it; waiting")
    with patient_lock(folder / "data" / f".{name}.lock", over, waiting) as mine:
        if not mine:
            stopped(name)
        yield


def show_plan(folder: Path, plan: Preset, stages: tuple[str, ...] = (), patterns: tuple[str, ...] = ()) -> None:
    """Print all pieces as a table, and which of them come next."""
    from rookery.studies.texas42_pieces import REPORT, is_done, pieces_of, to_do

    following = {piece.name for piece in to_do(folder, plan, stages, patterns)}
    for piece in pieces_of(plan):
        done = piece.name != REPORT and is_done(folder, plan, piece)
        state = "done" if done else "to do" if piece.name in following else "-"
        typer.echo(f"{piece.stage:10} {piece.name:44} {piece.amount:34} {state}")


def write_the_report(folder: Path) -> None:
    """Write the report, and say where it is."""
    from rookery.studies.texas42_report import write_report
    from rookery.terminal import out

    out.print(f"{write_report(folder)}", markup=False, soft_wrap=True)


def all_threads(threads: int | None) -> int:
    """Return how many threads to use."""
    from rookery.games.options import whole_number
    from rookery.search.threads import MOST_THREADS, cores

    return cores() if threads is None else whole_number("--threads", threads, 1, MOST_THREADS)


def stopped(what: str) -> None:
    """Say that time is up, and end the command."""
    told(f"stopped in {what}; the same command goes on")
    raise typer.Exit


@contextmanager
def paced(place: Path, what: str) -> Iterator[None]:
    """Say how many rows were added to a set of data, and how fast, all that goes with it counted in."""
    from rookery.studies.texas42_files import DataSet

    data = DataSet(place)
    before, begun = data.total("rows"), time.monotonic()
    yield
    seconds, made = time.monotonic() - begun, data.total("rows") - before
    if made:
        told(f"{place.name}: {made:,} {what} in {seconds:,.0f} s, {made / max(seconds, 1e-9):,.1f} a second")


@contextmanager
def noted(folder: Path, piece: str, seed: int | None = None) -> Iterator[None]:
    """Note by which command a piece is done, where and in how many seconds, those of an interrupted one too."""
    from rookery.studies.texas42_measured import keep_note

    begun, failed = time.monotonic(), False
    try:
        yield
    except Exception:
        failed = True
        raise
    finally:
        if not failed:
            keep_note(folder, piece, circumstances() | {"seed": seed, "seconds": time.monotonic() - begun})


def place_of(folder: Path, name: str) -> Path:
    """Return the folder of a set of data."""
    from rookery.studies.settings import plain_name

    return folder / "data" / plain_name("--name", name)


def fill_positions(
    folder: Path, name: str, deals: int, part: str, seed: int, threads: int | None, until: float,
    spread: Spreader | None = None, **settings: Any,
) -> None:  # fmt: skip
    """Make a set of positions, as far as it is not there; `spread` has it made elsewhere."""
    from rookery.learn.spread import in_turn
    from rookery.studies.texas42_files import DataSet
    from rookery.studies.texas42_positions import PositionSettings, make_positions

    wanted, place = PositionSettings(part=part, seed=seed, **settings), place_of(folder, name)
    with bar_until_interrupt(name) as say, paced(place, "positions"), noted(folder, name, seed):
        count = 1 if spread else all_threads(threads)
        done = make_positions(place, deals, wanted, count, say, lambda: time.monotonic() >= until, spread or in_turn)
    if not done:
        stopped(name)
    told(f"{name}: {DataSet(place).total('deals'):,} deals in {place}")


def fill_decisions(
    folder: Path, name: str, games: int, part: str, seed: int, files: list[str], device: str, threads: int | None,
    until: float, compiled: bool = False, spread: Spreader | None = None, **settings: Any,
) -> None:  # fmt: skip
    """Make a set of decisions, as far as it is not there; `files` are the oracle and the second network, if any.

    `spread` has it made elsewhere.
    """
    from rookery.studies.archives import digest
    from rookery.studies.texas42_checks import checks_of_data
    from rookery.studies.texas42_decisions import DecisionSettings, Elsewhere, Packed, labeller_of, make_decisions
    from rookery.studies.texas42_files import DataSet
    from rookery.studies.texas42_measured import keep_part

    marks = [text if text in ("", "exact") else digest(file_of(text).read_bytes())[:16] for text in files]
    wanted = DecisionSettings(part=part, seed=seed, oracle=marks[0], second=marks[1], **settings)
    place = place_of(folder, name)
    with bar_until_interrupt(name) as say, paced(place, "hands"), noted(folder, name, seed):
        labeller = labeller_of(files, device, all_threads(threads), compiled)
        elsewhere = Elsewhere(spread, Packed(files, compiled)) if spread else None
        done = make_decisions(place, games, wanted, labeller, say, lambda: time.monotonic() >= until, elsewhere)
    if not done:
        stopped(name)
    checks, there = checks_of_data(DataSet(place), labeller.oracles), DataSet(place).total("games")
    found = {"games": there, "settings": asdict(wanted), "checks": [check._asdict() for check in checks]}
    keep_part(folder, "data", {name: found})
    failed = [check.name for check in checks if not check.holds]
    told(f"{name}: {there:,} games in {place}; {'not so: ' + ', '.join(failed) if failed else 'all checks hold'}")


def file_of(text: str) -> Path:
    """Return the file of a network that a text names; refuse one that is not there."""
    from rookery.arena.networks import network_file

    path = network_file(text)
    if not path.is_file():
        raise BadInput(f"the network {text!r} is not there; an oracle is `exact` or a file of a Stage 1")
    return path


def network_of_run(folder: Path, name: str) -> str:
    """Return the file of a run's network."""
    return str(folder / "runs" / name / "network.safetensors")


def train_one(
    folder: Path, stage: int, name: str, size: str, answers: str, data: str | None, device: str, threads: int | None,
    seconds: float | None, precision: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Train the run that a command describes."""
    from rookery.studies.texas42_plan import TrainSettings, sized

    place = chosen_device(device)
    usual = "bf16" if place == "cuda" else "fp32"
    sets = tuple(listed(data))
    run = TrainSettings(name, sized(stage, size, answers), precision=precision or usual, data=sets, **settings)
    train_all(folder, (run,), place, threads, deadline(seconds))


def train_all(
    folder: Path, runs: tuple[TrainSettings, ...], device: str, threads: int | None, until: float
) -> None:  # fmt: skip
    """Train runs, those that are complete left alone."""
    tables = Loaded(folder, device, all_threads(threads))
    for settings in runs:
        train_run(folder, settings, tables, until)


class Loaded:
    """The data of the last run, which serve the next if it learns from the same."""

    def __init__(self, folder: Path, device: str, threads: int):
        self.folder, self.device, self.threads = folder, device, threads
        self.key: Any = None
        self.tables: Any = None

    def for_run(self, settings: TrainSettings) -> Tables:
        """Return the data of a run."""
        from rookery.studies.texas42_tables import load_tables

        logits = settings.stage == 2 and settings.network.answers == "logits"
        data = (settings.kind, settings.data, self.device, settings.rows, settings.valid_rows)
        key = (*data, self.threads, settings.reads, logits)
        if key != self.key:
            self.key = self.tables = None  # before there are new ones: a card has no room for both
            self.tables = load_tables(self.folder, *key)
            self.key = key
        return self.tables  # type: ignore[no-any-return]


def train_run(folder: Path, settings: TrainSettings, loaded: Loaded, until: float) -> None:
    """Train a run, unless it is complete."""
    from rookery.studies.texas42_pieces import refuse_another
    from rookery.studies.texas42_runs import Run

    refuse_another(folder, settings)
    run = Run(folder, settings)
    if run.complete:
        run.clear_up()
    else:
        with bar_until_interrupt(settings.name) as say, noted(folder, settings.name, settings.seed):
            say(0, settings.steps, "reading data")
            done = run.train(loaded.for_run(settings), None, say, until)
        if not done:
            stopped(settings.name)
    told(summary(run))


def make_the_trial(
    folder: Path, decisions: int, worlds: int, data: tuple[str, ...], threads: int, seed: int, until: float
) -> None:  # fmt: skip
    """Draw decisions and solve their worlds, as far as that is not done; another trial that is there is refused."""
    from rookery.studies.texas42_trial import TRIAL, drawn_decisions, make_trial, refuse_another_trial

    file, settings = folder / TRIAL, (decisions, worlds, seed)
    refuse_another_trial(file, settings)
    drawn = drawn_decisions(folder, data, decisions, seed)
    with made_alone(folder, TRIAL, until):
        refuse_another_trial(file, settings, drawn)
        with bar_until_interrupt(TRIAL) as say, noted(folder, TRIAL, seed):
            trial = make_trial(drawn, worlds, seed, threads, say, file, lambda: time.monotonic() >= until, decisions)
    if trial is None:
        stopped(TRIAL)
    told(f"{file}: {len(drawn['plays']):,} decisions in 2 x {worlds:,} worlds each")


def make_or_keep_the_trial(
    folder: Path, decisions: int | None, worlds: int | None, data: tuple[str, ...], threads: int, seed: int | None
) -> None:  # fmt: skip
    """Make a trial, or go on with the one that is there, which decides what is not asked for."""
    from rookery.studies.texas42_trial import TRIAL, read_trial

    there = read_trial(folder / TRIAL)
    usual = there[2] if there else (600, 1000, 0)
    if there and seed not in (None, usual[2]):
        told(f"{folder / TRIAL}: its decisions stay those of seed {usual[2]}; seed {seed} is for matches alone")
        seed = None
    asked = tuple(own if given is None else given for given, own in zip((decisions, worlds, seed), usual, strict=True))
    if there and asked == usual and not data and len(there[0]["plays"]) == len(there[1]["better"]):
        return  # whole, whatever hands were made since
    make_the_trial(folder, asked[0], asked[1], data, threads, asked[2], deadline(None))


def judge_choices(folder: Path, device: str, threads: int) -> None:
    """Judge everybody there is by the trial."""
    from rookery.studies.texas42_judging import judge
    from rookery.studies.texas42_trial import TRIAL, read_trial

    there = read_trial(folder / TRIAL)
    with bar_until_interrupt("choices") as say, noted(folder, "choices", there[2][2] if there else 0):
        judged = judge(folder, device, threads, say)
    told(f"choices of {judged} players are judged")


def compare_labels(folder: Path) -> None:
    """Compare choices by mean logits with those by mean Q, in every set that has both."""
    from rookery.studies.texas42_evaluate import logits_against_q
    from rookery.studies.texas42_files import data_sets, joined
    from rookery.studies.texas42_measured import keep_part

    sets = [each for each in data_sets(folder, "decisions") if each.numbers() and each.has_logits]
    with noted(folder, "claim"):
        compared = {each.folder.name: logits_against_q(joined(list(each.read()))) for each in sets}
    found = {name: facts for name, facts in compared.items() if facts}
    keep_part(folder, "claim", found)
    told(f"choices by logits are compared in {', '.join(found) or 'no set'}")


def sides_of(duel: str) -> list[str]:
    """Return the two players of a match."""
    names = duel.split("/")
    if len(names) != 2:
        raise BadInput(f"--duels {duel!r}: a match is written A/B, like heuristic/random")
    return names


def check_duels(folder: Path, duels: list[str]) -> None:
    """Refuse matches that cannot be played, before anything is made for them."""
    from rookery.studies.texas42_duels import player_of

    for name in dict.fromkeys(name for duel in duels for name in sides_of(duel)):
        player_of(name, folder, "cpu")


def play_match(folder: Path, duel: str, deals: int, device: str, threads: int, seed: int = 0) -> None:
    """Let two players meet, unless they have."""
    from rookery.studies.texas42_duels import play_duel, player_of
    from rookery.studies.texas42_measured import keep_match, read_measured
    from rookery.studies.texas42_pieces import match_of, network_marks

    names, marks = sides_of(duel), network_marks(folder)
    if match_of(read_measured(folder), duel, deals, marks, seed) is not None:
        told(f"{duel}: played already")
        return
    first, second = (player_of(name, folder, device, threads) for name in names)
    with bar_until_interrupt(duel), noted(folder, duel, seed):
        facts = play_duel(first, second, deals, seed).facts()
    runs = [name.partition(":")[0] for name in names]
    used = {name: marks[name] for name in runs if name in marks}
    keep_match(folder, {"first": names[0], "second": names[1], "seed": seed, "networks": used, **facts})
    told(f"{duel}: {facts['points_a_hand']['mean']:+.2f} points a hand over {deals:,} deals")


def summary(run: Any) -> str:
    """Say in a line how a complete run ended."""
    lines = run.progress.tail(1)
    if not lines:
        return f"{run.settings.name} is complete"
    last = lines[-1]
    speed = last["step"] / max(last["seconds"], 1e-9)
    found = "; ".join(
        f"{name}: gap {figures['unforced']['gap']:.3f} of unforced, {figures['all']['gap']:.3f} of all"
        for name, figures in last["valid"].items()
    )
    return f"{run.settings.name} is complete: {last['step']:,} steps, {speed:,.1f} steps/s; {found}"

"""Data of the Texas 42 study in files.

A set of data is a folder, FOLDER/data/NAME, of shards that are made one by one:

    plan.json                 what the set is made by, and how many shards there shall be
    00000.npz, 00000.json ... the shards, and beside each its rows and checksum

A shard is a NumPy archive, deflated, read without pickle; the same rows give the same bytes. There are two kinds.

    positions (Stage 1), N rows
      seed         [N]     int64   of the deal; by it positions belong to a part, see below
      hands        [N, 4]  uint32  initial hands, the bits of tiles
      played       [N]     uint32  tiles that are played
      trick        [N, 3]  int8    tiles of the current trick in order, then 28
      declaration  [N]     int8
      leader       [N]     int8    of the current trick
      q            [N, 7]  int8    exact points still to come after each slot, team 0 minus team 1; -128: not legal

    decisions (Stage 2), N rows, each a whole hand of 28 decisions
      seed, hands, declaration as above
      leader       [N]         int8    of the first trick; its team declares
      bid          [N]         int8    points that team must take, 30..42
      history      [N, 28]     int8    tiles in the order of play
                           Labels are 0 where not legal, and of decisions with a single legal slot, which nobody needs
      mean         [N, 28, 7]  int16   mean of Q over worlds, mover's side, in 1/512 of a point
      spread       [N, 28, 7]  uint16  standard deviation of Q over worlds, in 1/512 of a point
      make         [N, 28, 7]  uint16  probability that the declaring team makes its bid, in 1/65535
      logits       [N, 28, 7]  float16 mean over the same worlds of the logits of a network in policy mode; 0 if none

Parts go by deals: of every thousand seeds 0..899 train, 900..949 validate, 950..999 test.

Whoever reads a shard gets rows that can be: hands that share out the tiles, plays that the rules allow. Anything else
is refused with the name of the file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery.errors import BadInput
from rookery.games.options import one_of
from rookery.games.texas42_tiles import HAND
from rookery.learn.files import sweep
from rookery.learn.locks import Lock
from rookery.search.texas42_replay import first_bad_hand, first_bad_position
from rookery.studies.archives import digest, packed, unpacked
from rookery.studies.settings import differing
from rookery.writing import write_whole

FORMAT = "rookery texas42 data"
VERSION = 1
MOST_UNPACKED = 1 << 30
"""bytes of an array; twice what the largest shard has that can be asked for, and far less than deflated ones could"""
POINT = 512
"""units of a point in files"""
CERTAIN = 65535
"""units of a probability in files"""
PARTS = {"train": (0, 900), "valid": (900, 950), "test": (950, 1000)}
"""of every thousand deals"""
SCHEMAS: dict[str, dict[str, tuple[Any, tuple[int, ...]]]] = {
    "positions": {
        "seed": (np.int64, ()), "hands": (np.uint32, (4,)), "played": (np.uint32, ()), "trick": (np.int8, (3,)),
        "declaration": (np.int8, ()), "leader": (np.int8, ()), "q": (np.int8, (7,)),
    },
    "decisions": {
        "seed": (np.int64, ()), "hands": (np.uint32, (4,)), "declaration": (np.int8, ()), "leader": (np.int8, ()),
        "bid": (np.int8, ()), "history": (np.int8, (28,)), "mean": (np.int16, (28, 7)),
        "spread": (np.uint16, (28, 7)), "make": (np.uint16, (28, 7)), "logits": (np.float16, (28, 7)),
    },
}  # fmt: skip
"""arrays of each kind: type, and shape of a row"""
OF_POSITION = ("hands", "played", "trick", "declaration", "leader")
OF_HAND = ("hands", "declaration", "leader", "bid", "history")

Rows = dict[str, np.ndarray]
WorldCounts = int | tuple[int, ...]
"""worlds by which a decision is labelled; several numbers go by trick, and the last of them goes on"""


def part_of(seeds: np.ndarray) -> np.ndarray:
    """Return the part of each deal as its place in PARTS."""
    rest = np.asarray(seeds) % 1000
    return np.where(rest < PARTS["train"][1], 0, np.where(rest < PARTS["valid"][1], 1, 2)).astype(np.int8)


def seeds_of(part: str, numbers: np.ndarray) -> np.ndarray:
    """Return the seeds of deals of a part by their number in it; of `all` the number is the seed."""
    if one_of("part", part, (*PARTS, "all")) == "all":
        return np.asarray(numbers, np.int64)
    first, end = PARTS[part]
    rounds, within = np.divmod(np.asarray(numbers, np.int64), end - first)
    return rounds * 1000 + first + within


def worlds_by_trick(worlds: WorldCounts | list[int]) -> np.ndarray:
    """Return by how many worlds the decisions of each trick are labelled [7]."""
    given = world_counts(worlds)
    return np.array([given[min(trick, len(given) - 1)] for trick in range(HAND)])


def world_counts(worlds: WorldCounts | list[int]) -> list[int]:
    """Return the numbers of worlds as they were given."""
    return list(worlds) if isinstance(worlds, tuple | list) else [worlds]


def joined(parts: list[Rows]) -> Rows:
    """Put rows behind one another."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def count_of(rows: Rows) -> int:
    """Return the number of rows."""
    return len(rows["seed"])


# ---- one shard -----------------------------------------------------------------------------------


def archive_of(kind: str, rows: Rows) -> bytes:
    """Return the bytes of a shard."""
    arrays = {name: np.asarray(rows[name], dtype) for name, (dtype, _) in SCHEMAS[kind].items()}
    for name, (_, shape) in SCHEMAS[kind].items():
        assert arrays[name].shape == (count_of(rows), *shape), (name, arrays[name].shape)
    return packed(arrays, deflated=True)


def write_shard(path: Path, kind: str, rows: Rows, about: Mapping[str, Any]) -> None:
    """Write a shard whole, then what lies beside it; a shard without that is not there."""
    content = archive_of(kind, rows)
    path.with_suffix(".json").unlink(missing_ok=True)  # of a smaller or damaged one that is made again
    write_whole(path, content)
    facts = {"format": FORMAT, "version": VERSION, "kind": kind, "rows": count_of(rows), **about}
    write_json(path.with_suffix(".json"), facts | {"sha256": digest(content)})


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a file of JSON whole."""
    write_whole(path, (json.dumps(values, indent=1, allow_nan=False) + "\n").encode())


def read_shard(path: Path) -> tuple[str, Rows]:
    """Read and check a shard; return its kind and rows."""
    about = read_facts(path.with_suffix(".json"))
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{path} is not there, though {path.with_suffix('.json').name} tells of it") from None
    if digest(content) != about.get("sha256"):
        raise BadInput(f"{path} is damaged: it is not the file that {path.with_suffix('.json').name} tells of")
    kind = one_of(f"{path}: kind", about.get("kind"), tuple(SCHEMAS))
    try:
        rows = rows_in(content, kind)
    except Exception as error:  # damaged archives and headers raise errors of a dozen kinds
        raise BadInput(f"{path} is no shard of {kind}: {str(error) or type(error).__name__}") from None
    check_rows(path, kind, rows)
    if about.get("rows") != count_of(rows):
        raise BadInput(f"{path} has {count_of(rows)} rows, not {about.get('rows')!r}")
    return kind, rows


def read_facts(path: Path) -> dict[str, Any]:
    """Read what lies beside a shard, or the plan of a set."""
    try:
        facts = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"{path} is not there; it tells what the data beside it are") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise BadInput(f"{path} tells of no data of this study: its format should be {FORMAT!r}")
    if facts.get("version") != VERSION:
        raise BadInput(f"{path} is of version {facts.get('version')!r}; this program reads version {VERSION}")
    return facts


def rows_in(content: bytes, kind: str) -> Rows:
    """Return the arrays of an archive, of the types and shapes they should have."""
    found, count = {}, None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name, (dtype, shape) in SCHEMAS[kind].items():
            array = unpacked(archive, name, MOST_UNPACKED)
            count = len(array) if count is None and array.ndim else count
            if array.dtype != dtype or array.shape != (count, *shape):
                wanted = f"{np.dtype(dtype)} of shape {(count, *shape)}"
                raise ValueError(f"array {name} is {array.dtype} of shape {array.shape}, not {wanted}")
            found[name] = array
    return found


def check_rows(path: Path, kind: str, rows: Rows) -> None:
    """Refuse rows that cannot be."""
    if not np.isfinite(rows.get("logits", np.zeros(1))).all():
        raise BadInput(f"{path}: some of the logits are no numbers")
    if kind == "positions":
        bad = first_bad_position(*(rows[name] for name in (*OF_POSITION, "q")))
    else:
        bad = first_bad_hand(*(rows[name] for name in OF_HAND))
    if bad >= 0:
        raise BadInput(f"{path}: row {bad} holds no position that the rules allow, or none with its labels")


# ---- a set of shards -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """How much a set shall hold."""

    unit: str
    """what is counted: deals or games"""
    count: int
    per_shard: int

    @property
    def shards(self) -> int:
        """How many shards that makes."""
        return -(-self.count // self.per_shard)

    def of(self, number: int) -> int:
        """Return how much a shard holds; the last one may have less than the others."""
        return min(self.count - number * self.per_shard, self.per_shard)


@dataclass(frozen=True)
class DataSet:
    """The folder of a set of data."""

    folder: Path

    @property
    def plan(self) -> Path:
        """What the set is made by."""
        return self.folder / "plan.json"

    def shard(self, number: int) -> Path:
        """Return the file of a shard."""
        return self.folder / f"{number:05d}.npz"

    def begin(self, kind: str, shards: int, settings: Mapping[str, Any]) -> None:
        """Write the plan; refuse a folder in which there are data of another, or more shards than are wanted."""
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep(self.folder)
        wanted = {"format": FORMAT, "version": VERSION, "kind": kind, "settings": dict(settings)}
        wanted = json.loads(json.dumps(wanted))
        if self.plan.exists():
            there = self.planned()
            made, asked = ({"kind": each["kind"], **each["settings"]} for each in (there, wanted))
            others = differing(asked, made)
            if others:
                raise BadInput(f"{self.plan}: these data are made with {'; '.join(others)}; take another --name")
            if there["shards"] > shards:
                raise BadInput(f"{self.folder} has {there['shards']} shards already; ask for as many or more")
        write_json(self.plan, wanted | {"shards": shards})

    def planned(self) -> dict[str, Any]:
        """Read the plan."""
        facts = read_facts(self.plan)
        if not isinstance(facts.get("settings"), dict) or not isinstance(facts.get("shards"), int):
            raise BadInput(f"{self.plan} is damaged: it does not tell settings and shards")
        return facts

    @property
    def has_logits(self) -> bool:
        """Whether mean logits of a second network are kept beside mean Q."""
        return bool(self.planned()["settings"].get("second"))

    @property
    def is_exact(self) -> bool:
        """Whether exact search labelled the hands."""
        return bool(self.planned()["settings"].get("oracle") == "exact")

    def about(self, number: int) -> dict[str, Any]:
        """Read what lies beside a shard."""
        return read_facts(self.shard(number).with_suffix(".json"))

    def told(self, number: int, what: str) -> int:
        """Return how many rows, deals or games a shard holds, as is told beside it; 0 if that is damaged or missing."""
        try:
            found = self.about(number).get(what)
        except BadInput:
            return 0
        return found if isinstance(found, int) else 0

    def total(self, what: str) -> int:
        """Count the rows, deals or games of all shards."""
        return sum(self.told(number, what) for number in self.numbers())

    def has(self, number: int, size: Size) -> bool:
        """Tell whether a shard is there; a damaged or smaller one is not. Its rows are looked at by who reads them."""
        if self.told(number, size.unit) < size.of(number):
            return False
        try:
            return digest(self.shard(number).read_bytes()) == self.about(number).get("sha256")
        except FileNotFoundError:
            return False

    def numbers(self) -> list[int]:
        """List the shards that are there."""
        return sorted(int(path.stem) for path in self.folder.glob("*.json") if path.stem.isdecimal())

    @property
    def missing(self) -> int:
        """How many of the shards that are planned are not there yet."""
        return int(self.planned()["shards"]) - len(self.numbers())

    def read(self, limit: int | None = None) -> Iterator[Rows]:
        """Yield the rows of all shards in order, no more than `limit` of them."""
        left = limit
        for number in self.numbers():
            if left is not None and left <= 0:
                return
            _, rows = read_shard(self.shard(number))
            yield rows if left is None else {name: array[:left] for name, array in rows.items()}
            left = None if left is None else left - count_of(rows)

    def checksums(self) -> dict[str, str]:
        """Return the checksums of the shards by their names, as the files beside them tell."""
        return {f"{self.folder.name}/{number:05d}": str(self.about(number).get("sha256")) for number in self.numbers()}


def fill(
    folder: Path, kind: str, settings: Mapping[str, Any], size: Size,
    made: Callable[[Iterator[int]], Iterator[tuple[int, Rows]]], say: Callable[[int], None], ended: Callable[[], bool],
) -> bool:  # fmt: skip
    """Have the shards of a set made that are not there; tell whether all are there.

    made   takes the numbers of those that are missing, and yields each with its rows
    say    told how many shards are there
    ended  asked after each that was made whether it is time to stop
    """
    data = DataSet(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder / ".lock", "filled")
    lock.take()

    def missing() -> Iterator[int]:
        for number in range(size.shards):
            say(number)
            if not data.has(number, size):
                yield number

    try:
        data.begin(kind, size.shards, settings)
        for number, rows in made(missing()):
            write_shard(data.shard(number), kind, rows, {size.unit: size.of(number)})
            if ended() and not all(data.has(each, size) for each in range(size.shards)):
                return False
        say(size.shards)
        return True
    finally:
        lock.give_back()


def data_sets(study: Path, kind: str, names: tuple[str, ...] = ()) -> list[DataSet]:
    """Return sets of a kind by name; without names, all that are there."""
    folder = study / "data"
    found = {path.parent.name: DataSet(path.parent) for path in sorted(folder.glob("*/plan.json"))}
    for name in names:
        if name not in found:
            raise BadInput(f"there are no data {name!r} in {folder}; there are {', '.join(found) or 'none'}")
    chosen = [found[name] for name in names] if names else list(found.values())
    fitting = [each for each in chosen if read_facts(each.plan).get("kind") == kind]
    if names and len(fitting) < len(chosen):
        raise BadInput(f"--data {','.join(names)}: they must all be {kind}")
    return fitting

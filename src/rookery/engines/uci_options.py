"""The options of the UCI engine: names as users of Lc0 know them, with aliases, and what they may be.

Names are read without regard to case, spaces, dashes and underscores. Options of Lc0 that mean nothing here are taken
and have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from rookery.errors import BadInput
from rookery.games.chess_lc0_input import FILLS
from rookery.games.options import READERS
from rookery.search.lc0_settings import FPU, MOST_BATCH, Lc0Settings

SCORES = ("WDL_mu", "centipawn", "Q", "win_percentage")
DEVICES = ("auto", "cpu", "cuda", "mps")
VALUE = re.compile(r"(?<!\S)value(?!\S)")


@dataclass(frozen=True)
class EngineOption:
    """An option as a manager is told of it."""

    name: str
    kind: str
    """check, spin, string, combo or button; a number with a fraction is a string, as in Lc0"""
    default: str = ""
    least: int = 0
    most: int = 0
    words: tuple[str, ...] = ()
    setting: str = ""
    """the setting of the search that it changes"""
    same_as: str = ""
    """the option of which it is another name"""
    meaning: str = ""
    idle: bool = False
    """whether it is there only because managers refuse to set what an engine does not tell of"""

    @property
    def line(self) -> str:
        """What is told of it."""
        parts = [f"option name {self.name} type {self.kind}"]
        if self.kind != "button":
            parts.append(f"default {self.default or '<empty>'}")
        if self.kind == "spin":
            parts.append(f"min {self.least} max {self.most}")
        return " ".join([*parts, *(f"var {word}" for word in self.words)])

    def read(self, text: str) -> str:
        """Return a value as it is kept; raise BadInput if it is not allowed."""
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise BadInput(f"option {self.name} must be true or false, not {text!r}")
            return text.lower()
        if self.kind == "combo":
            for word in self.words:
                if word.lower() == text.lower():
                    return word
            raise BadInput(f"option {self.name} must be one of {', '.join(self.words)}, not {text!r}")
        if self.kind == "spin":
            if not re.fullmatch(r"[+-]?[0-9]{1,15}", text) or not self.least <= int(text) <= self.most:
                raise BadInput(f"option {self.name} must be a whole number in {self.least}..{self.most}, not {text!r}")
            return str(int(text))
        if self.setting or self.name == "SmartPruningFactor":
            pattern, _, read = READERS[float]
            if not re.fullmatch(pattern, text):
                raise BadInput(f"option {self.name} must be a number, not {text!r}")
            self.check(read(text))
        return text

    def check(self, value: float) -> None:
        """Refuse a number that the search would refuse, under the name of the option."""
        if not self.setting:
            if not 0 <= value <= 10:
                raise BadInput(f"option {self.name} must be a number in 0..10, not {value}")
            return
        about = next(setting.metadata for setting in fields(Lc0Settings) if setting.name == self.setting)
        if not about["least"] <= value <= about["most"]:
            raise BadInput(f"option {self.name} must be a number in {about['least']}..{about['most']}, not {value}")


def of_search(name: str, setting: str) -> EngineOption:
    """Make an option of a setting of the search."""
    field = next(field for field in fields(Lc0Settings) if field.name == setting)
    meaning = field.metadata["meaning"]
    if field.metadata["kind"] is float:
        return EngineOption(name, "string", f"{field.default:g}", setting=setting, meaning=meaning)
    if field.metadata["kind"] is int:
        bounds = int(field.metadata["least"]), int(field.metadata["most"])
        return EngineOption(name, "spin", str(field.default), *bounds, setting=setting, meaning=meaning)
    return EngineOption(name, "check", str(field.default == "on").lower(), setting=setting, meaning=meaning)


def idle(name: str, kind: str = "string", default: str = "", most: int = 0) -> EngineOption:
    """Make an option of Lc0 that means nothing here."""
    return EngineOption(name, kind, default, 0, most, meaning="taken, without effect", idle=True)


OPTIONS = (
    EngineOption("WeightsFile", "string", "<autodiscover>", meaning="the network, a .pb.gz or .pb file, or zoo:chess"),
    EngineOption("Threads", "spin", "0", 0, 1024, meaning="threads of a CPU that run the network; 0: all"),
    EngineOption("MultiPV", "spin", "1", 1, 500, meaning="lines that are told"),
    EngineOption("Ponder", "check", "false", meaning="a manager says here whether it lets the engine ponder"),
    EngineOption("UCI_Chess960", "check", "false", meaning="castling as the king taking his rook"),
    EngineOption("UCI_ShowWDL", "check", "false", meaning="tell chances to win, draw and lose"),
    EngineOption("UCI_ShowMovesLeft", "check", "false", meaning="tell the moves left"),
    EngineOption("VerboseMoveStats", "check", "false", meaning="tell all about each move after a search"),
    EngineOption("MoveOverheadMs", "spin", "200", 0, 100_000, meaning="time kept back for the way of an answer"),
    EngineOption("RamLimitMb", "spin", "1024", 1, 1 << 18, meaning="memory of the tree"),
    EngineOption("NNCacheSize", "spin", "200000", 0, 100_000_000, meaning="evaluations remembered, 280 bytes each"),
    EngineOption("Backend", "combo", "auto", words=DEVICES, meaning="where the network is run"),
    EngineOption("MinibatchSize", "spin", "0", 0, MOST_BATCH, meaning="leaves judged together; 0: 7, on a card 256"),
    of_search("CPuct", "cpuct"),
    of_search("CPuctBase", "cpuct_base"),
    of_search("CPuctFactor", "cpuct_factor"),
    EngineOption("FpuStrategy", "combo", "reduction", words=FPU, setting="fpu", meaning="what FpuValue is"),
    of_search("FpuValue", "fpu_value"),
    of_search("PolicyTemperature", "policy_temperature"),
    EngineOption("HistoryFill", "combo", "fen_only", words=FILLS, meaning="boards before the first known one"),
    of_search("TwoFoldDraws", "two_fold"),
    of_search("StickyEndgames", "sticky"),
    of_search("Transpositions", "transpositions"),
    of_search("MovesLeftMaxEffect", "m_max_effect"),
    of_search("MovesLeftThreshold", "m_threshold"),
    of_search("MovesLeftSlope", "m_slope"),
    of_search("MovesLeftConstantFactor", "m_constant"),
    of_search("MovesLeftScaledFactor", "m_scaled"),
    of_search("MovesLeftQuadraticFactor", "m_quadratic"),
    of_search("MaxCollisionVisits", "collisions"),
    EngineOption("SmartPruningFactor", "string", "1.33", meaning="end early if no move can catch up; 0: never"),
    EngineOption("ScoreType", "combo", "WDL_mu", words=SCORES, meaning="what a score means"),
    EngineOption("PolicyHead", "string", meaning="of a network with several"),
    EngineOption("ValueHead", "string", meaning="of a network with several"),
    EngineOption("Hash", "spin", "1024", 1, 1 << 18, same_as="RamLimitMb"),
    EngineOption("Move Overhead", "spin", "200", 0, 100_000, same_as="MoveOverheadMs"),
    EngineOption("Clear Hash", "button", meaning="forget tree and evaluations"),
    idle("SyzygyPath"),
    idle("LogFile"),
    idle("Contempt"),
    idle("BackendOptions"),
    idle("MaxPrefetch", "spin", "32", 1024),
    idle("OutOfOrderEval", "check", "true"),
    idle("MaxCollisionEvents", "spin", "917", 65_536),
    idle("PerPVCounters", "check", "false"),
    idle("DrawScore", default="0"),
    idle("NodesPerSecondLimit", default="0"),
    idle("TimeManager", default="legacy"),
)  # fmt: skip
ALIASES = {
    "networkfile": "WeightsFile", "weights": "WeightsFile", "evalfile": "WeightsFile", "nncache": "NNCacheSize",
    "cpuctinit": "CPuct", "policysoftmaxtemp": "PolicyTemperature", "fpureduction": "FpuValue",
    "minibatch": "MinibatchSize", "showwdl": "UCI_ShowWDL", "ramlimit": "RamLimitMb", "device": "Backend",
}  # fmt: skip
WITHOUT_EFFECT = {
    "contemptmode", "temperature", "tempdecaymoves", "noise", "noiseepsilon", "noisealpha", "uciopponent",
    "uciratingadv", "ucianalysemode", "ucilimitstrength", "ucielo", "ucishowcurrline", "slowmover", "debuglogfile",
    "cpuctatroot", "cpuctbaseatroot", "cpuctfactoratroot", "roothasowncpuctparams", "maxconcurrentsearchers",
    "cachehistorylength", "taskworkers",
}  # fmt: skip
"""options that are taken though nobody is told of them"""
LIVE = {
    "MultiPV", "Ponder", "UCI_ShowWDL", "UCI_ShowMovesLeft", "VerboseMoveStats", "MoveOverheadMs", "ScoreType",
    "SmartPruningFactor", "Threads", "Clear Hash",
}  # fmt: skip
"""options that hold from now on; for the others the search is made anew"""
DOUBTFUL = (("WeightsFile", "Backend", "PolicyHead", "ValueHead"), ("RamLimitMb", "NNCacheSize", "MinibatchSize"))
"""options that may want what is not there: a network, memory; taken back in this order where the search fails"""


def plain(name: str) -> str:
    """Return a name without what people write in different ways."""
    return re.sub(r"[\s_-]", "", name).lower()


BY_NAME = {plain(option.name): option for option in OPTIONS}


def option_named(name: str) -> EngineOption | None:
    """Find an option by any of its names."""
    found = BY_NAME.get(plain(name)) or BY_NAME.get(plain(ALIASES.get(plain(name), "")))
    return BY_NAME[plain(found.same_as)] if found is not None and found.same_as else found


def read_option(text: str) -> tuple[str, str]:
    """Read `name NAME value VALUE`, where both may have spaces; those of a value are kept, for it may be a path."""
    found = VALUE.search(text)
    words = (text[: found.start()] if found else text).split()
    if words[:1] != ["name"]:
        raise BadInput("setoption should be followed by name NAME value VALUE")
    return " ".join(words[1:]), text[found.end() :].strip() if found else ""


class Options:
    """What the options are at present."""

    def __init__(self) -> None:
        self.values = {option.name: option.default for option in OPTIONS}
        self.proven = dict(self.values)
        """what the options were when the search was made last, or when the engine was started"""

    def hold(self) -> None:
        """Note that a search can be made with the options as they are."""
        self.proven = dict(self.values)

    def take_back(self, names: Sequence[str]) -> bool:
        """Give options the values with which a search could be made; tell whether any had another."""
        before = {name: self.proven[name] for name in names}
        changed = any(self.values[name] != value for name, value in before.items())
        self.values |= before
        return changed

    def set(self, name: str, value: str) -> EngineOption | None:
        """Set an option and return it; None if nobody is told of it. Raise BadInput for a wrong name or value."""
        option = option_named(name)
        if option is None:
            if plain(name) in WITHOUT_EFFECT:
                return None
            raise BadInput(f"there is no option {name!r}")
        if option.kind != "button":
            self.values[option.name] = option.read(value)
        return option

    def number(self, name: str) -> int:
        """Return a whole number."""
        return int(self.values[name])

    def on(self, name: str) -> bool:
        """Tell whether a switch is on."""
        return self.values[name] == "true"

    def settings(self, batch: int) -> Lc0Settings:
        """Return the settings of the search; `batch` holds where none is set."""
        made: dict[str, Any] = {"batch": self.number("MinibatchSize") or batch}
        for option in OPTIONS:
            value = self.values[option.name]
            if option.setting and option.kind == "check":
                made[option.setting] = "on" if value == "true" else "off"
            elif option.setting:
                made[option.setting] = value if option.words else int(value) if option.kind == "spin" else float(value)
        return Lc0Settings(**made)

"""Players as text: how it is read, checked and written again.

    kind                                 random
    kind:option=value,...                mcts:sims=400
    kind:COMMAND,option=value,...        uci:stockfish,time=0.1,option.Threads=1
    kind:FILE,option=value,...           net:checkpoint_01000.pth,sims=200
    kind:PLAYER                          oracle:mcts:sims=400
    kind:INNER,option=value,...          bidder:'eq:worlds=50,choice=make',worlds=40

A command is split into words as a shell would do it. Commas separate it from the options; a comma that belongs to a
command, file, inner player or value stands in quotes or behind a backslash. What an engine alone understands is handed
on by options whose name begins with a prefix of the kind, as in `option.Threads=1`.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rookery.errors import BadInput
from rookery.games.options import READERS

Value = int | float | str  # a switch is a bool, and so an int
PLAIN_WORD = re.compile(r"[A-Za-z0-9_@%+=:./-]+", re.ASCII)
NEEDS_QUOTES = re.compile(r"""[,'"\\]""")


@dataclass(frozen=True)
class Option:
    """A number, word or switch that a person may set."""

    name: str
    kind: type[int] | type[float] | type[bool] | type[str]
    least: float
    most: float
    """of a number"""
    meaning: str
    default: Value | None = None
    """what holds if it is not given; None: the player decides"""
    words: tuple[str, ...] = ()
    """those allowed, where it is a word"""
    besides: str = ""
    """what else a word may be, for people; any text is taken then"""

    @property
    def allowed(self) -> str:
        """What it may be, for people."""
        if self.kind is str:
            return (
                f"one of {', '.join(self.words)}" if not self.besides else f"{', '.join(self.words)} or {self.besides}"
            )
        name = READERS[self.kind][1]
        return name if self.kind is bool else f"{name} in {value_text(self.least)}..{value_text(self.most)}"

    def read(self, text: str) -> Value:
        """Turn a text into a value; raise BadInput if it is none or out of range."""
        value = self.parsed(text)
        if value is None:
            raise BadInput(f"option {self.name} must be {self.allowed}, not {text!r}")
        return value

    def parsed(self, text: str) -> Value | None:
        """Turn a text into a value, or None if that is not allowed."""
        if self.kind is str:
            return text if text in self.words or self.besides else None
        pattern, _, read = READERS[self.kind]
        value: int | float | None = read(text) if re.fullmatch(pattern, text) else None
        fits = value is not None and (self.kind is bool or self.least <= value <= self.most)
        return value if fits else None


@dataclass(frozen=True)
class Form:
    """How players of a kind are written."""

    name: str
    options: tuple[Option, ...] = ()
    argument: str = ""
    """COMMAND, FILE, PLAYER or INNER where one follows the colon"""
    prefix: str = ""
    """how options begin that are handed on to an engine"""


@dataclass(frozen=True)
class Given:
    """What a text says."""

    form: Form
    argument: str = ""
    """the text of the PLAYER"""
    command: tuple[str, ...] = ()
    """the words of the COMMAND, or the FILE or INNER alone"""
    options: dict[str, Value] = field(default_factory=dict)
    """those that were given"""
    extras: dict[str, str] = field(default_factory=dict)
    """those that are handed on, without their prefix"""

    def value(self, name: str) -> Value | None:
        """Return an option, or what holds if it is not given."""
        defaults = {option.name: option.default for option in self.form.options}
        return self.options.get(name, defaults[name])

    @property
    def text(self) -> str:
        """The text in its one canonical spelling; options left at their defaults are not named."""
        items = [" ".join(quoted_word(word) for word in self.command)] if self.command else []
        given = [(option, self.options[option.name]) for option in self.form.options if option.name in self.options]
        items += [f"{option.name}={value_text(value)}" for option, value in given if value != option.default]
        items += [f"{self.form.prefix}{name}={quoted_value(value)}" for name, value in self.extras.items()]
        return f"{self.form.name}:{','.join(items)}" if items else self.form.name


def value_text(value: Value) -> str:
    """Write a value; a whole number without a point, a switch as true or false."""
    if isinstance(value, str):
        return quoted_value(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if value == int(value) else repr(value)


def quoted_word(word: str) -> str:
    """Write a word of a command, in quotes if it needs them; unlike in a shell, a comma needs them."""
    return word if PLAIN_WORD.fullmatch(word) else in_quotes(word)


def quoted_value(value: str) -> str:
    """Write the value of an option, in quotes if it needs them."""
    return in_quotes(value) if NEEDS_QUOTES.search(value) or value != value.strip() else value


def in_quotes(text: str) -> str:
    """Put a text into single quotes."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def allowed_text(word: str, allowed: Sequence[str], lead: str) -> str:
    """Say what there is instead of a word, the most similar first."""
    near = difflib.get_close_matches(word, allowed, n=1)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"{guess}{lead} {', '.join(allowed)}" if allowed else f"{guess}{lead} none"


# ---- reading -------------------------------------------------------------------------------------


def read_text(text: str, forms: Mapping[str, Form]) -> Given:
    """Read a player's text; raise BadInput that names the text, the part that is wrong and what is allowed."""
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f"a player is given by its text, like random or mcts:sims=400, not by {text!r}")
    try:
        if any(ord(sign) < 32 or ord(sign) == 127 for sign in text):
            raise BadInput("it holds a control sign, such as the end of a line; a player is written on one line")
        name, colon, rest = text.strip().partition(":")
        if name == "zoo" and "net" in forms:
            raise BadInput(f"zoo:NAME names a network; who searches with it is net:{text.strip()}")
        if name not in forms:
            raise BadInput(f"there is no kind {name!r}; {allowed_text(name, list(forms), 'kinds are')}")
        return read_rest(forms[name], rest if colon else None)
    except BadInput as error:
        raise BadInput(f"player {text!r}: {error}") from None


def read_rest(form: Form, rest: str | None) -> Given:
    """Read what follows the colon; None if there is none."""
    if form.argument == "PLAYER":
        if not rest or not rest.strip():
            raise BadInput(f"{form.name} needs a player behind a colon, like {form.name}:mcts:sims=400")
        return Given(form, argument=rest.strip())
    items = [] if rest is None else split_items(rest)
    command: tuple[str, ...] = ()
    if form.argument in ("COMMAND", "FILE", "INNER"):
        read = {"COMMAND": read_command, "FILE": read_file, "INNER": read_inner}[form.argument]
        command, items = read(form, items[0] if items else ""), items[1:]
    options: dict[str, Value] = {}
    extras: dict[str, str] = {}
    for item in items:
        read_item(form, item, options, extras)
    return Given(form, command=command, options=options, extras=extras)


def read_command(form: Form, text: str) -> tuple[str, ...]:
    """Split a command into words."""
    words = tuple(shlex.split(text))
    if not words or not words[0]:
        raise BadInput(f"{form.name} needs a command behind a colon, like {form.name}:./engine")
    return words


def read_file(form: Form, text: str) -> tuple[str]:
    """Take the name of a file as it is, spaces too."""
    name = unquoted(text.strip())
    if not name:
        raise BadInput(f"{form.name} needs a file behind a colon, like {form.name}:checkpoint_01000.pth")
    return (name,)


def read_inner(form: Form, text: str) -> tuple[str]:
    """Take the text of a player inside."""
    name = unquoted(text.strip())
    if not name:
        raise BadInput(f"{form.name} needs a player behind a colon, like {form.name}:eq")
    return (name,)


def read_item(form: Form, item: str, options: dict[str, Value], extras: dict[str, str]) -> None:
    """Read option=value into one of two dictionaries."""
    name, equals, raw = (part.strip() for part in item.partition("="))
    value = unquoted(raw)
    if not equals or not name or not value:
        raise BadInput(f"{item.strip()!r} should read option=value")
    known = {option.name: option for option in form.options}
    extra = name.removeprefix(form.prefix) if form.prefix and name.startswith(form.prefix) else ""
    if name in options or extra.lower() in (other.lower() for other in extras):
        raise BadInput(f"option {name} is given twice")
    if extra:
        extras[extra] = value
    elif name in known:
        options[name] = known[name].read(value)
    else:
        more = f", and {form.prefix}NAME=VALUE for the engine's own" if form.prefix else ""
        raise BadInput(
            f"{form.name} has no option {name!r}; {allowed_text(name, list(known), 'its options are')}{more}"
        )


def split_items(text: str) -> list[str]:
    """Split a text at its commas, except those in quotes or behind a backslash; quotes are left as they are."""
    items, item, quote, escaped = [], "", "", False
    for sign in text:
        if sign == "," and not quote and not escaped:
            items.append(item)
            item = ""
            continue
        item += sign
        if escaped:
            escaped = False
        elif sign == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
    if quote or escaped:
        raise BadInput(f"{quote or item[-1]!r} in {text!r} has no counterpart")
    return [*items, item]


def unquoted(text: str) -> str:
    """Take quotes and backslashes out of a value; spaces are part of it."""
    words = shlex.shlex(text, posix=True)
    words.whitespace, words.whitespace_split, words.commenters = "", True, ""
    try:
        return "".join(words)
    except ValueError:  # a quote that began before the "=" of its item
        raise BadInput(f"a quote or backslash in {text!r} has no counterpart") from None

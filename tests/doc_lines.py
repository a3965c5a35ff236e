"""What the pages of the documentation tell a reader to type: commands and snippets, with where they stand."""

from __future__ import annotations

import re
import shlex
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support import ROOT

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
INDENTED = re.compile(r"(?:^(?: {4}|\t).*\n?)+", re.M)
INLINE = re.compile(r"`(rookery [^`\n]+)`")
PROGRAMS = ("rookery", "make", "pip", "python", "python3", "git")
BEFORE = re.compile(r"^(?:\w+=\S*\s+|nohup\s+|nice(?: -n \d+)?\s+)+")  # what may stand before the name of a program
REDIRECTED = re.compile(r"\d?[<>|&]")  # how a word begins with which the shell sends output elsewhere
OUTPUT = re.compile(r"^rookery: ")  # what the program says, not what is typed


@dataclass(frozen=True)
class Typed:
    """A command line or a snippet of a page."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def pages() -> tuple[Path, ...]:
    """Return all pages: those at the root and all under docs."""
    return (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def blocks(page: Path) -> list[tuple[str, int, str]]:
    """Return language, first line and text of every block of a page; of an indented one the language is empty."""
    text = page.read_text()
    fenced = [(m[1], line_of(text, m.start(2)), m[2]) for m in FENCE.finditer(text)]
    bare = FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)  # what lies inside a fence may be indented too
    return fenced + [("", line_of(bare, m.start()), textwrap.dedent(m[0])) for m in INDENTED.finditer(bare)]


@cache
def commands() -> tuple[Typed, ...]:
    """Return every command line of every block, several on one line apart."""
    found = []
    for page in pages():
        for language, first, text in blocks(page):
            if language in ("", "sh", "bash", "console"):
                for offset, line in enumerate(text.splitlines()):
                    line = BEFORE.sub("", line.removeprefix("$ "))
                    parts = line.split(" && ")
                    found += [Typed(name_of(page), first + offset, part) for part in parts if is_command(part)]
    return tuple(found)


def is_command(line: str) -> bool:
    word = line.split(" ", 1)[0].rsplit("/", 1)[-1]
    return word in PROGRAMS and not OUTPUT.match(line)


@cache
def inline_commands() -> tuple[Typed, ...]:
    """Return the commands that stand within sentences."""
    found = []
    for page in pages():
        text = page.read_text()
        found += [Typed(name_of(page), line_of(text, m.start()), m[1]) for m in INLINE.finditer(text)]
    return tuple(found)


@cache
def snippets() -> tuple[Typed, ...]:
    """Return the blocks of Python."""
    return tuple(
        Typed(name_of(page), first, text)
        for page in pages()
        for language, first, text in blocks(page)
        if language == "python"
    )


def words_of(command: str) -> list[str]:
    """Split a command as a shell does, without its comment and where its output goes."""
    words = shlex.split(command, comments=True)
    words = words[: next((place for place, word in enumerate(words) if REDIRECTED.match(word)), None)]
    return [words[0].rsplit("/", 1)[-1], *words[1:]]


def without_fences(text: str) -> str:
    return FENCE.sub("", text)

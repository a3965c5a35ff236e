"""The pages keep what they promise: what they tell a reader to type exists, and every link leads somewhere.

What is really run, and what is not and why, stands in test_docs_run.py.
"""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from doc_lines import Typed, blocks, commands, inline_commands, name_of, pages, snippets, without_fences, words_of
from rookery.cli import app
from rookery.games.game import Game
from rookery.games.library import OWN, load
from rookery.games.rules import ARGUMENTS
from support import ROOT

HEADINGS = [
    "Rules", "Options", "State", "Actions", "Text", "Observations", "End and result", "Symmetries", "Versions",
    "Sources",
]  # fmt: skip
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")


def parse(command: Any, words: list[str], parent: Any = None) -> None:
    """Parse a line against the commands without running any; raise what the person would be told."""
    context = command.make_context(command.name or "rookery", list(words), parent=parent)
    rest = [*getattr(context, "_protected_args", ()), *context.args]
    if hasattr(command, "resolve_command") and rest:
        _, inner, inner_words = command.resolve_command(context, rest)
        parse(inner, inner_words, context)


@cache
def program() -> Any:
    return get_command(app)


def complaint(words: list[str]) -> str:
    """Return why a line of the program cannot be typed so; nothing if it can."""
    try:
        parse(program(), words[1:])
    except typer.Exit:  # --help and --version end here
        return ""
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer brings click's errors along under a name of its own
            raise
        return str(error.format_message()) or type(error).__name__
    return ""


def told(problems: list[tuple[Typed, str]]) -> str:
    return "\n".join(f"{typed}: {typed.text}\n    {problem}" for typed, problem in problems)


def test_every_command_in_a_block_is_one_the_program_takes():
    typed = [line for line in commands() if words_of(line.text)[0] == "rookery"]
    assert len(typed) > 100
    problems = [(line, why) for line in typed if (why := complaint(words_of(line.text)))]
    assert not problems, told(problems)


def test_a_wrong_command_would_be_found():
    assert "No such command" in complaint(["rookery", "pley"])
    assert "No such option" in complaint(["rookery", "play", "pylos", "--agianst", "random"])
    assert "Missing argument" in complaint(["rookery", "play"])
    assert "unexpected extra argument" in complaint(["rookery", "games", "pylos"])
    assert "is not one of" in complaint(["rookery", "bench", "rules", "--device", "tpu"])


def test_every_command_in_a_sentence_names_a_command_and_its_options():
    problems = []
    for line in inline_commands():
        why = complaint(words_of(line.text))
        if why and not why.startswith(("Missing argument", "NoArgsIsHelp")):  # a sentence may name a command alone
            problems.append((line, why))
    assert not problems, told(problems)


def test_every_other_command_finds_what_it_names():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras, markers = project["project"]["optional-dependencies"], project["tool"]["pytest"]["ini_options"]["markers"]
    for line in commands():
        words = words_of(line.text)
        if words[0] == "make":
            assert set(words[1:]) <= targets, f"{line}: {line.text}"
        for word in words[1:]:
            if word.endswith((".py", ".txt")) and words[0] != "rookery":
                assert (ROOT / word).exists(), f"{line}: {line.text}"
        if words[0] in ("python", "python3") and "-m" in words and words[words.index("-m") + 1] == "pytest":
            named = set(re.findall(r"\w+", words[-1])) - {"not", "and", "or"} if words[-2] == "-m" else set()
            assert named <= {marker.partition(":")[0] for marker in markers}, f"{line}: {line.text}"
        if words[0] == "pip":
            for extra in re.findall(r"\[([\w,]+)\]", line.text):
                assert set(extra.split(",")) <= set(extras), f"{line}: {line.text}"


def test_every_snippet_compiles_and_imports_what_there_is():
    assert len(snippets()) > 20
    for snippet in snippets():
        for node in ast.walk(ast.parse(snippet.text, str(snippet))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    importlib.import_module(alias.name)
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    if not hasattr(module, alias.name):  # a module of the package
                        importlib.import_module(f"{node.module}.{alias.name}")


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page, made from its headings as GitHub makes them."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.*)$", without_fences(page.read_text()), re.M):
        slug = (
            re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).strip().replace(" ", "-")
        )
        found[slug if slug not in found else f"{slug}-{found[slug]}"] = found.get(slug, 0) + 1
    return set(found)


def test_every_link_picture_and_anchor_leads_somewhere():
    checked = 0
    for page in pages():
        for target in LINK.findall(without_fences(page.read_text())):
            if "://" in target or target.startswith("mailto:"):
                continue
            path, _, anchor = target.partition("#")
            reached = (page.parent / path).resolve() if path else page
            assert reached.exists(), f"{name_of(page)}: {target}"
            if anchor and reached.suffix == ".md":
                assert anchor in anchors(reached), f"{name_of(page)}: {target}; there are {sorted(anchors(reached))}"
            checked += 1
    assert checked > 100


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in LINK.findall(without_fences(page.read_text())):
            path = target.partition("#")[0]
            if path.endswith(".md") and "://" not in path:
                waiting.append((page.parent / path).resolve())
    assert {page for page in pages() if page not in reached} == set()


def test_fences_are_closed():
    for page in pages():
        assert page.read_text().count("\n```") % 2 == 0, name_of(page)
        assert all(text.strip() for _, _, text in blocks(page)), name_of(page)


def game_pages() -> dict[str, str]:
    return {path.stem: path.read_text() for path in (ROOT / "docs" / "games").glob("*.md")}


def test_the_pages_of_the_games_have_the_same_headings():
    assert set(game_pages()) == set(OWN)
    for name, text in game_pages().items():
        assert re.findall(r"^## (.*)$", text, re.M) == HEADINGS, name


def test_the_pages_of_the_games_tell_every_option_observation_and_the_version():
    for name, text in game_pages().items():
        game = load(name)
        for word in [*game.option_names(), *game.observations]:
            assert f"`{word}`" in text, f"{name}: {word}"
        versions = re.findall(r"^\| (\d+) \|", text.partition("## Versions")[2], re.M)
        assert versions[-1] == str(game.version), name


def test_the_page_on_adding_a_game_shows_the_example_and_names_what_a_game_declares():
    page, example = ((ROOT / path).read_text() for path in ("docs/add-a-game.md", "examples/connect_four.py"))
    (shown,) = [text.strip() for _, _, text in blocks(ROOT / "docs/add-a-game.md") if text.startswith("STATE")]
    assert shown in example
    for rule in ARGUMENTS:
        assert f"`{rule}(" in page, rule
    for fact in Game.__annotations__:
        assert f"`{fact}`" in page or fact == "path", fact

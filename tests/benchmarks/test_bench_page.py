"""The page of benchmarks: sections are kept, replaced and written as they come."""

from __future__ import annotations

import sys

import pytest
from rich.table import Table

from lc0_files import random_net
from rookery.benchmarks import page
from rookery.benchmarks.lc0_engine import engine_speed, lc0_tables
from rookery.benchmarks.page import Effort, Section, chosen_sections, markdown, read_sections, write_benchmarks
from rookery.errors import BadInput
from rookery.nets.lc0.files import write_file


def made_table(number: int) -> Table:
    table = Table(title="speeds a second")
    table.add_column("what")
    table.add_column("speed", justify="right")
    table.add_row("a | b", str(number))
    return table


@pytest.fixture
def two_sections(monkeypatch):
    """Put two sections that measure nothing in place of the real ones, and count how often they are asked."""
    asked = []

    def section(name):
        def measure(effort):
            asked.append(name)
            yield made_table(len(asked))

        return Section(name.capitalize(), measure)

    monkeypatch.setattr(page, "SECTIONS", {name: section(name) for name in ("rules", "search")})
    return asked


def test_a_table_becomes_markdown():
    assert markdown(made_table(3)) == "Speeds a second:\n\n| what | speed |\n| --- | ---: |\n| a / b | 3 |"


def test_a_section_is_written_as_soon_as_it_is_measured_and_resume_goes_on(tmp_path, two_sections):
    out = tmp_path / "benchmarks.md"

    def broken_off(title):
        if title == "Search":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_benchmarks(out, ["rules", "search"], Effort(), False, "beside other work", broken_off)
    assert list(read_sections(out)) == ["Rules"]
    first = out.read_text()
    assert "beside other work" in first
    assert "OpenSpiel" in first
    write_benchmarks(out, ["rules", "search"], Effort(), True, "", lambda title: None)
    assert two_sections == ["rules", "search"]
    assert list(read_sections(out)) == ["Rules", "Search"]


def test_a_section_is_measured_again_without_the_others(tmp_path, two_sections):
    out = tmp_path / "benchmarks.md"
    write_benchmarks(out, ["search", "rules"], Effort(), False, "", lambda title: None)
    before = read_sections(out)
    write_benchmarks(out, ["search"], Effort(quick=True), False, "", lambda title: None)
    after = read_sections(out)
    assert list(after) == ["Rules", "Search"]
    assert after["Rules"] == before["Rules"]
    assert "| a / b | 3 |" in after["Search"]
    assert "    rookery bench all --only search --quick\n" in after["Search"]


@pytest.mark.parametrize("content", [b"# Notes\n", b"\x89PNG\r\n\xff"])
def test_another_file_is_not_overwritten(tmp_path, two_sections, content):
    (tmp_path / "notes.md").write_bytes(content)
    with pytest.raises(BadInput, match="is no page of benchmarks"):
        write_benchmarks(tmp_path / "notes.md", ["rules"], Effort(), False, "", lambda title: None)
    assert (tmp_path / "notes.md").read_bytes() == content


def test_sections_are_named(tmp_path):
    assert "lc0" not in chosen_sections(None, None)
    assert "lc0" in chosen_sections(None, tmp_path / "network.pb.gz")
    with pytest.raises(BadInput, match="'speed' is no section"):
        chosen_sections("rules,speed", None)
    with pytest.raises(BadInput, match="--network FILE"):
        list(page.engine_tables(Effort()))


@pytest.mark.slow
def test_an_engine_is_measured_through_uci_and_our_search_beside_it(tmp_path):
    network = tmp_path / "network.pb.gz"
    write_file(network, random_net("attention, map"))
    ours_as_an_engine = [sys.executable, "-m", "rookery", "engine", "uci", "--network", str(network)]
    assert engine_speed(ours_as_an_engine, 20) > 0
    (table,) = lc0_tables(network, 20)
    assert "Rookery" in markdown(table)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rules", "networks"])
def test_a_quick_section_is_measured(tmp_path, name):
    write_benchmarks(tmp_path / "page.md", [name], Effort(quick=True), False, "", lambda title: None)
    assert "one round" in (tmp_path / "page.md").read_text()

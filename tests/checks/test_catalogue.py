"""Every check is in the catalogue, on the page and in the tests, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

from rookery.checks import CATALOGUE
from rookery.checks.catalogue import PAGE
from support import ROOT

SOURCES = sorted((ROOT / "src" / "rookery" / "checks").glob("*.py"))


def names_in_source() -> set[str]:
    return {name for path in SOURCES for name in re.findall(r'Finding\(\s*"([a-z-]+)"', path.read_text())}


def headings() -> set[str]:
    found = re.findall(r"^## (.*)$", (ROOT / PAGE).read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_every_check_is_in_the_catalogue():
    assert names_in_source() == set(CATALOGUE)


def test_every_check_is_named_on_the_page_in_the_section_it_links_to():
    sections = re.split(r"^## ", (ROOT / PAGE).read_text(), flags=re.M)[1:]
    texts = {re.sub(r"[^\w -]", "", text.partition("\n")[0].lower()).replace(" ", "-"): text for text in sections}
    for name, check in CATALOGUE.items():
        assert check.section in texts, check.section
        assert f"`{name}`" in texts[check.section], f"{name} is not named under {check.section}"


def test_every_check_the_page_names_exists():
    """Names of checks stand in the second column of the tables."""
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", (ROOT / PAGE).read_text(), re.M)
    named = {name for cell in rows for name in re.findall(r"`([a-z-]+)`", cell)}
    assert named == set(CATALOGUE)


def test_every_section_of_the_catalogue_is_a_heading():
    assert {check.section for check in CATALOGUE.values()} <= headings()


def test_every_check_is_tested_in_order_and_complaining():
    text = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    healthy = {name for call in re.findall(r"in_order\((.*)\)", text) for name in re.findall(r'"([a-z-]+)"', call)}
    broken = {name for call in re.findall(r"complains\((.*)\)", text) for name in re.findall(r'"([a-z-]+)"', call)}
    assert set(CATALOGUE) - healthy == set()
    assert set(CATALOGUE) - broken == set()

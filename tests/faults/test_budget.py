"""How often processes are killed in all, and that a test of this suite does it for each kind of work."""

from __future__ import annotations

import ast
from collections import Counter

from faults.killing import KILLS
from support import ROOT


def kills_of(path) -> list[str]:
    """Return the kinds of work that the tests of a file kill; only those that `make faults` runs."""
    tree, found = ast.parse(path.read_text()), []
    marks = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    whole = any("pytestmark" in mark and "mark.faults" in mark for mark in marks)
    for test in tree.body:
        if not isinstance(test, ast.FunctionDef):
            continue
        if whole or any("mark.faults" in ast.unparse(mark) for mark in test.decorator_list):
            found += [node.value for node in ast.walk(test) if isinstance(node, ast.Constant) and node.value in KILLS]
    return found


def test_the_whole_suite_kills_two_hundred_processes():
    assert sum(KILLS.values()) == 200


def test_each_kind_of_work_is_killed_by_one_test():
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "from faults.killing import" in path.read_text()]
    found = Counter(name for path in files for name in kills_of(path))
    assert found == dict.fromkeys(KILLS, 1)

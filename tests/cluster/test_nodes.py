"""Joining a cluster: what is refused, and with which words."""

from __future__ import annotations

import re
import shlex
import sys
from types import SimpleNamespace

import pytest

from rookery.cluster.nodes import Cluster, imported_ray
from rookery.errors import BadInput
from support import ROOT


def test_without_ray_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(BadInput, match=r"pip install 'rookery\[cluster\]'"):
        imported_ray()


def test_a_cluster_without_tokens_is_refused(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(BadInput, match="RAY_AUTH_MODE is 'disabled'"):
        imported_ray()


@pytest.mark.parametrize("version", ["2.51.2", "1.13.0"])
def test_a_version_of_ray_that_knows_no_tokens_is_refused(monkeypatch, version):
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(__version__=version))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(BadInput, match=f"Ray {version} knows no tokens"):
        imported_ray()


def test_there_is_a_worker_for_each_card_or_else_for_each_processor():
    assert Cluster("", processors=8, cards=2).room(on_cards=True) == 2
    assert Cluster("", processors=8, cards=2).room(on_cards=False) == 8
    assert Cluster("", processors=8, cards=0).room(on_cards=True) == 8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray's own
def test_the_commands_of_ray_on_the_page_are_such_as_it_takes():
    from ray.scripts.scripts import cli

    typed = re.findall(r"^    (ray .*)$", (ROOT / "docs" / "cluster.md").read_text(), re.M)
    assert len(typed) >= 3
    for line in typed:
        name, *words = shlex.split(line, comments=True)[1:]
        cli.commands[name].make_context(name, words)

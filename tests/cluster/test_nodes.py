"""Joining a cluster: what is refused, and with which words."""

from __future__ import annotations

import sys

import pytest

from rookery.cluster.nodes import Cluster, imported_ray
from rookery.errors import BadInput


def test_without_ray_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(BadInput, match=r"pip install 'rookery\[cluster\]'"):
        imported_ray()


def test_a_cluster_without_tokens_is_refused(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(BadInput, match="RAY_AUTH_MODE is 'disabled'"):
        imported_ray()


def test_there_is_a_worker_for_each_card_or_else_for_each_processor():
    assert Cluster("", processors=8, cards=2).room(on_cards=True) == 2
    assert Cluster("", processors=8, cards=2).room(on_cards=False) == 8
    assert Cluster("", processors=8, cards=0).room(on_cards=True) == 8

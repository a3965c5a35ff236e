"""Leela Chess Zero's networks at chess positions.

from rookery import lc0

network = lc0.load("network.pb.gz")
for found in network.evaluate(["startpos", "startpos moves e2e4 e7e5"]):
    print(found.q, found.wdl, found.m, found.moves["g1f3"].p)
"""

from rookery.lc0.evaluator import Evaluation, Evaluator, Judged, MoveEvaluation, load

__all__ = ["Evaluation", "Evaluator", "Judged", "MoveEvaluation", "load"]

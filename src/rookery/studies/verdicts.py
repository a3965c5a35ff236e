"""What became of a claim: a word, and why. All studies judge in these words.

yes, no    by the whole interval, where there is one
open       the interval lies on both sides
missing    what would tell is not there
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rookery.studies.markdown import table

YES, NO, OPEN, MISSING = "yes", "no", "open", "missing"


@dataclass(frozen=True)
class Verdict:
    """What became of a claim."""

    word: str
    """one of those above; where a study says more in place of one, whatever it says"""
    reason: str
    """what was measured, or why nothing was"""

    def __str__(self) -> str:
        return f"**{self.word}**: {self.reason}"


@dataclass(frozen=True)
class Answer(Verdict):
    """A verdict on a question of which something was said before."""

    question: str
    said: str

    def facts(self) -> dict[str, str]:
        """Return it for JSON."""
        return {"question": self.question, "said": self.said, "measured": self.reason, "verdict": self.word}


def answers_table(answers: Sequence[Answer]) -> list[str]:
    """Lay out answers."""
    rows = [(each.question, each.said, each.reason, f"**{each.word}**") for each in answers]
    return table(("question", "what was said", "what was measured", "verdict"), rows)

"""All targets of the fuzz suite."""

from __future__ import annotations

from fuzz import boards, files, talks, texts, web

TARGETS = (*boards.TARGETS, *texts.TARGETS, *files.TARGETS, *talks.TARGETS, *web.TARGETS)

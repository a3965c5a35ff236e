"""Errors of PyYAML while values are made."""

from yaml import Mark, MarkedYAMLError

class ConstructorError(MarkedYAMLError):
    def __init__(
        self, context: str | None, context_mark: Mark | None, problem: str | None, problem_mark: Mark | None
    ) -> None: ...

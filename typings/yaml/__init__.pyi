"""What Rookery uses of PyYAML."""

import re
from collections.abc import Callable, Hashable
from typing import Any

from yaml import constructor as constructor

class Mark:
    line: int
    column: int

class YAMLError(Exception): ...

class MarkedYAMLError(YAMLError):
    context: str | None
    problem: str | None
    problem_mark: Mark | None

class Node:
    tag: str
    value: Any
    start_mark: Mark

class ScalarNode(Node): ...
class MappingNode(Node): ...

class SafeLoader:
    @classmethod
    def add_constructor(cls, tag: str, constructor: Callable[[Any, Any], Any]) -> None: ...
    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]: ...
    @classmethod
    def add_implicit_resolver(cls, tag: str, regexp: re.Pattern[str], first: list[str]) -> None: ...

class SafeDumper:
    @classmethod
    def add_representer(cls, kind: type, representer: Callable[[Any, Any], Any]) -> None: ...
    @classmethod
    def add_implicit_resolver(cls, tag: str, regexp: re.Pattern[str], first: list[str]) -> None: ...

def load(stream: str, Loader: type[SafeLoader]) -> Any: ...
def dump(
    data: Any,
    *,
    Dumper: type[SafeDumper],
    sort_keys: bool = True,
    allow_unicode: bool = False,
    width: int = 80,
) -> str: ...

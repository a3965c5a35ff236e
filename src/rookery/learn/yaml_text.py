"""YAML as settings use it: 1e-3 is a number, a key stands once, and errors name line and column."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

from rookery.errors import BadInput

SCIENTIFIC = re.compile(r"^[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+$")


class Reader(yaml.SafeLoader):
    """Reads plain values only, and no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that stands twice: only one of its values would count."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} stands twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def whole_number(reader: Reader, node: yaml.ScalarNode) -> int:
    """Read a whole number as people do; YAML would take 010 for eight and 1:30 for ninety."""
    try:
        return int(node.value.replace("_", ""), 0)
    except ValueError:
        problem = f"{node.value!r} is no number that can be understood; put a text in quotes"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


class Writer(yaml.SafeDumper):
    """Writes what `Reader` reads: a text that looks like a number to it is put in quotes."""


def in_one_line(writer: Any, values: list[Any]) -> Any:
    """Write a list between brackets."""
    return writer.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)


Reader.add_constructor("tag:yaml.org,2002:int", whole_number)
Writer.add_representer(list, in_one_line)
for tool in (Reader, Writer):
    tool.add_implicit_resolver("tag:yaml.org,2002:float", SCIENTIFIC, list("-+0123456789"))


def read_yaml(text: str, name: str) -> Any:
    """Read plain values; `name` says in an error where the text came from."""
    try:
        return yaml.load(text, Reader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name
        raise BadInput(f"{where}: {error.problem or error.context or 'this is no YAML'}") from None
    except Exception as error:  # a tag such as !!bool before something else makes PyYAML stumble in a dozen ways
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{name}: this is no YAML: {reason}") from None


def yaml_text(values: dict[str, Any]) -> str:
    """Write plain values, keys in their order."""
    return yaml.dump(values, Dumper=Writer, sort_keys=False, allow_unicode=True, width=110)

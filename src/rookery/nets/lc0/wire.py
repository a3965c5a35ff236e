"""Protocol-buffer messages by tables: enough of the wire format to read and write weight files.

A schema says what each field number of a message means. A `Message` holds the fields that are present, by name; fields
that no table knows are kept as they came, so that what was read can be written back. Everything is read from a stream:
the numbers of a layer are the only large things, and each is a bytes object of its own that can be let go.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from rookery.errors import BadInput

VARINT, FIXED64, SIZED, FIXED32 = 0, 1, 2, 5
CHUNK = 1 << 20
MOST_FIELDS = 100_000  # a network of full size has some thousands; millions of empty ones would fill the memory


@dataclass(frozen=True)
class Field:
    """What a field number means."""

    name: str
    kind: str
    """number, fixed, float, text, bytes or message"""
    repeated: bool = False
    schema: Schema | None = None
    """of a message"""

    @property
    def wire(self) -> int:
        """How a value of this kind is laid out."""
        return {"number": VARINT, "fixed": FIXED32, "float": FIXED32}.get(self.kind, SIZED)


@dataclass(frozen=True, eq=False)
class Schema:
    """A kind of message: its name and its fields by number."""

    name: str
    fields: dict[int, Field]

    def named(self, name: str) -> Field:
        """Return a field by its name."""
        return next(found for found in self.fields.values() if found.name == name)


@dataclass
class Message:
    """The fields of a message that are present, by name; a repeated one is a list."""

    schema: Schema
    values: dict[str, Any] = field(default_factory=dict)
    unknown: list[bytes] = field(default_factory=list)
    """fields of no known number, with their tags"""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default if it is absent."""
        return self.values.get(name, default)

    def need(self, name: str) -> Message:
        """Return a message in a field, which is put there if it is absent."""
        found = self.values.get(name)
        if found is None:
            schema = self.schema.named(name).schema
            assert schema is not None
            found = self.values[name] = Message(schema)
        assert isinstance(found, Message)
        return found

    def add(self, name: str) -> Message:
        """Append an empty message to a repeated field."""
        schema = self.schema.named(name).schema
        assert schema is not None
        made = Message(schema)
        self.values.setdefault(name, []).append(made)
        return made

    def inner(self) -> Iterator[tuple[str, Message]]:
        """List all messages inside with their paths, like encoder.3.mha.q_w."""
        for name, value in self.values.items():
            if isinstance(value, Message):
                yield name, value
                yield from ((f"{name}.{path}", found) for path, found in value.inner())
            elif isinstance(value, list) and value and isinstance(value[0], Message):
                for number, item in enumerate(value):
                    yield f"{name}.{number}", item
                    yield from ((f"{name}.{number}.{path}", found) for path, found in item.inner())


# ---- reading -------------------------------------------------------------------------------------


class Source:
    """A stream that is read to its end, within limits."""

    def __init__(self, stream: BinaryIO, most_bytes: int, remedy: str = "larger ones are not read"):
        """Read a stream; `remedy` says what can be done where it holds more than it may."""
        self.stream, self.most_bytes, self.remedy = stream, most_bytes, remedy
        self.position = 0
        self.fields = 0
        self.ahead = b""

    def at_end(self) -> bool:
        """Tell whether nothing is left."""
        if not self.ahead:
            self.ahead = self.stream.read(1)
        return not self.ahead

    def take(self, count: int) -> bytes:
        """Read so many bytes; memory is only taken for those that are there."""
        if self.position + count > self.most_bytes:
            raise BadInput(f"holds more than {self.most_bytes:,} bytes when unpacked; {self.remedy}")
        parts, missing = [self.ahead[:count]], count - len(self.ahead[:count])
        self.ahead = self.ahead[count:]
        while missing:
            part = self.stream.read(min(missing, CHUNK))
            if not part:
                raise BadInput(f"is cut off: {missing:,} bytes are missing at byte {self.position + count - missing:,}")
            parts.append(part)
            missing -= len(part)
        self.position += count
        return b"".join(parts)

    def varint(self) -> int:
        """Read a number of up to ten bytes, seven bits each, the lowest first."""
        number = 0
        for place in range(0, 70, 7):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << place
            if byte < 0x80:
                return number & (1 << 64) - 1
        raise BadInput(f"is damaged: a number has no end at byte {self.position:,}")

    def count_field(self) -> None:
        """Refuse a file of more fields than any network has."""
        self.fields += 1
        if self.fields > MOST_FIELDS:
            raise BadInput(f"is no network: it has more than {MOST_FIELDS:,} fields")


def read_message(source: Source, schema: Schema, end: int | None = None) -> Message:
    """Read a message that ends at a position, or with the stream."""
    message = Message(schema)
    while source.position < end if end is not None else not source.at_end():
        source.count_field()
        tag = source.varint()
        number, wire = tag >> 3, tag & 7
        known = schema.fields.get(number)
        if number == 0:
            raise BadInput(f"is damaged: field number 0 in {schema.name} at byte {source.position:,}")
        if known is None:
            message.unknown.append(varint_bytes(tag) + raw_value(source, wire, end))
        elif wire != known.wire and not (wire == SIZED and known.repeated):
            raise BadInput(
                f"is damaged: {schema.name}.{known.name} has wire type {wire} at byte {source.position:,}; "
                f"it should have {known.wire}"
            )
        else:
            put_value(source, message, known, wire, end)
    if end is not None and source.position != end:
        raise BadInput(f"is damaged: {schema.name} is longer than it says, at byte {source.position:,}")
    return message


def put_value(source: Source, message: Message, known: Field, wire: int, end: int | None) -> None:
    """Read a field of a known number into a message."""
    if known.schema is not None and not known.repeated and known.name in message.values:
        raise BadInput(f"is damaged: {message.schema.name} has {known.name} twice, at byte {source.position:,}")
    if wire == SIZED and known.kind == "number":  # a list of numbers in one
        size = size_of(source, end)
        stop = source.position + size
        numbers = message.values.setdefault(known.name, [])
        while source.position < stop:
            source.count_field()
            numbers.append(source.varint())
        return
    value = read_value(source, known, end)
    if known.repeated:
        message.values.setdefault(known.name, []).append(value)
    else:
        message.values[known.name] = value


def read_value(source: Source, known: Field, end: int | None) -> Any:
    """Read one value."""
    if known.kind == "number":
        return source.varint()
    if known.kind == "fixed":
        return int.from_bytes(source.take(4), "little")
    if known.kind == "float":
        return struct.unpack("<f", source.take(4))[0]
    size = size_of(source, end)
    if known.schema is not None:
        return read_message(source, known.schema, source.position + size)
    content = source.take(size)
    return content if known.kind == "bytes" else content.decode("utf-8", "surrogateescape")


def size_of(source: Source, end: int | None) -> int:
    """Read the length of what follows; it must lie inside what it is part of."""
    size = source.varint()
    if end is not None and source.position + size > end:
        raise BadInput(f"is damaged: a field of {size:,} bytes at byte {source.position:,} leaves its message")
    return size


def raw_value(source: Source, wire: int, end: int | None) -> bytes:
    """Read a value of an unknown field as it stands."""
    if wire == VARINT:
        return varint_bytes(source.varint())
    if wire == FIXED64:
        return source.take(8)
    if wire == FIXED32:
        return source.take(4)
    if wire != SIZED:
        raise BadInput(f"is damaged: wire type {wire} at byte {source.position:,}")
    size = size_of(source, end)
    return varint_bytes(size) + source.take(size)


# ---- writing -------------------------------------------------------------------------------------


def varint_bytes(number: int) -> bytes:
    """Write a number, seven bits a byte, the lowest first."""
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def message_parts(message: Message) -> list[bytes]:
    """Write a message in the order of its field numbers, as parts that stand behind one another."""
    parts: list[bytes] = []
    for number, known in sorted(message.schema.fields.items()):
        value = message.values.get(known.name)
        for item in value if known.repeated and value is not None else [value]:
            if item is not None:
                parts.append(varint_bytes(number << 3 | known.wire))
                parts += value_parts(known, item)
    return parts + message.unknown


def value_parts(known: Field, value: Any) -> list[bytes]:
    """Write one value."""
    if known.kind == "number":
        return [varint_bytes(value)]
    if known.kind == "fixed":
        return [value.to_bytes(4, "little")]
    if known.kind == "float":
        return [struct.pack("<f", value)]
    if isinstance(value, Message):
        inside = message_parts(value)
        return [varint_bytes(sum(map(len, inside))), *inside]
    content = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return [varint_bytes(len(content)), content]

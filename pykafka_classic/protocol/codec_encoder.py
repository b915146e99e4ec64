"""Writes the Python source of an encoder: one function for one message class in one version.

The function appends pieces to a list; whoever called it joins them. Neighbouring fields of fixed size, lengths included, are packed by one precompiled
`Struct`, and the pieces of a struct go to the list in one statement:

    def encode(message, out, large):
        name_1 = message.name.encode('utf-8', 'replace')
        out += (pack_1(message.index, len(name_1)), name_1)

`large` collects where in `out` the records lie that shall not be copied. Empty tag sections are pad bytes of the next run.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Packer
from typing import Any, Final

from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.protocol import codec_runtime
from pykafka_classic.protocol.schema import FIXED_SIZES, FieldSchema, Message, Records, Struct, WireType, fields_of

Encoder = Callable[[Any, list[Records], list[int]], None]

LARGE_RECORDS: Final = 1024  # bytes; smaller ones are cheaper to copy than to send apart


def compile_encoder(kind: type[Message], version: int) -> Encoder:
    """The encoder of `kind` in `version`: (message, pieces, indexes of large pieces) to nothing."""
    writer = EncoderWriter(kind, version)
    source = writer.source()
    namespace = writer.namespace
    exec(compile(source, f"<encoder of {kind.__name__} v{version}>", "exec"), namespace)
    encoder: Encoder = namespace["encode"]
    return encoder


class EncoderWriter:
    """Collects the lines of one encoder. Fields wait in the run (fixed size), then in the pieces, until a loop or a condition makes it necessary to write."""

    def __init__(self, kind: type[Message], version: int) -> None:
        self._kind = kind
        self._version = version
        self._flexible = version in kind.FLEXIBLE_VERSIONS
        self._lines: list[str] = []
        self._depth = 1
        self._names = 0
        self._out = "out"  # the list that pieces go to; another one inside a tagged field
        self._run_format = ""
        self._run: list[str] = []
        self._pieces: list[str] = []
        self.namespace: dict[str, Any] = {"FileRecords": FileRecords, **{name: getattr(codec_runtime, name) for name in _RUNTIME_NAMES}}

    def source(self) -> str:
        """The text of the module that defines `encode`."""
        self._struct(self._kind, "message")
        self._flush()
        return "def encode(message, out, large):\n" + "\n".join(self._lines or ["    pass"]) + "\n"

    # Lines, names, runs and pieces

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    def _new_name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}_{self._names}"

    def _constant(self, stem: str, value: object) -> str:
        name = self._new_name(stem)
        self.namespace[name] = value
        return name

    def _fixed(self, item_format: str, expression: str) -> None:
        self._run_format += item_format
        self._run.append(expression)

    def _piece(self, expression: str) -> None:
        self._end_run()
        self._pieces.append(expression)

    def _end_run(self) -> None:
        if not self._run_format:
            return
        packer = Packer(">" + self._run_format)
        if self._run:
            self._pieces.append(f"{self._constant('pack', packer.pack)}({', '.join(self._run)})")
        else:
            self._pieces.append(repr(bytes(packer.size)))
        self._run_format = ""
        self._run.clear()

    def _flush(self) -> None:
        """Writes what waits."""
        self._end_run()
        if len(self._pieces) == 1:
            self._line(f"{self._out}.append({self._pieces[0]})")
        elif self._pieces:
            self._line(f"{self._out} += ({', '.join(self._pieces)})")
        self._pieces.clear()

    # Structs and fields

    def _struct(self, kind: type[Struct], value: str) -> None:
        tagged: list[FieldSchema] = []
        for field in fields_of(kind):
            attribute = f"{value}.{field.name}"
            if not field.is_wanted(self._version):
                self._refuse_unless_default(kind, field, attribute)
            elif field.tag is None:
                self._field(field, attribute)
            else:
                tagged.append(field)
        if self._flexible and tagged:
            self._tags(sorted(tagged, key=lambda field: field.tag or 0), value)
        elif self._flexible:
            self._run_format += "x"

    def _refuse_unless_default(self, kind: type[Struct], field: FieldSchema, attribute: str) -> None:
        if not field.ignorable:
            self._line(f"if {self._differs(field, attribute)}:")
            self._line(f"    refuse_value({kind.__name__ + '.' + field.name!r}, {self._version})")

    def _differs(self, field: FieldSchema, attribute: str) -> str:
        """A condition: the value is not the default."""
        if field.wire_type is WireType.STRUCT:
            assert isinstance(field.element, type)
            return " or ".join(self._differs(inner, f"{attribute}.{inner.name}") for inner in fields_of(field.element))
        if field.default is None:
            return f"{attribute} is not None"
        return f"{attribute} != {field.default!r}" if field.default else attribute

    def _field(self, field: FieldSchema, attribute: str) -> None:
        match field.wire_type:
            case WireType.STRUCT:
                assert isinstance(field.element, type)
                self._struct(field.element, attribute)
            case WireType.ARRAY:
                self._array(field, attribute)
            case WireType.STRING:
                self._string(field, attribute)
            case WireType.BYTES:
                self._bytes(field, attribute)
            case WireType.RECORDS:
                self._records(field, attribute)
            case WireType.UUID:
                self._fixed("16s", f"checked_uuid({attribute})")
            case fixed:
                self._fixed(fixed.value, attribute)

    def _string(self, field: FieldSchema, attribute: str) -> None:
        text, length = self._new_name(field.name), self._new_name("length")
        flexible = self._flexible and field.flexible
        lines = [f"{text} = {attribute}.encode('utf-8', 'replace')", f"{length} = string_length(len({text}) + 1)" if flexible else f"{length} = len({text})"]
        self._unless_null(field, attribute, lines, f"{text} = b''; {length} = {self._null_length(flexible)}")
        self._length("h", length, flexible)
        self._piece(text)

    def _bytes(self, field: FieldSchema, attribute: str) -> None:
        content, length = self._new_name(field.name), self._new_name("length")
        lines = [f"{content} = {attribute}", f"{length} = {self._length_of(content)}"]
        self._unless_null(field, attribute, lines, f"{content} = b''; {length} = {self._null_length(self._flexible)}")
        self._length("i", length, self._flexible)
        self._piece(content)

    def _records(self, field: FieldSchema, attribute: str) -> None:
        content, length = self._new_name(field.name), self._new_name("length")
        lines = [f"{content} = {attribute}", f"{length} = {self._length_of(content)}"]
        self._unless_null(field, attribute, lines, f"{content} = b''; {length} = {self._null_length(self._flexible)}")
        self._length("i", length, self._flexible)
        self._flush()
        self._line(f"if len({content}) > {LARGE_RECORDS} or {content}.__class__ is FileRecords:")
        self._line(f"    large.append(len({self._out}))")
        self._line(f"{self._out}.append({content})")

    def _unless_null(self, field: FieldSchema, attribute: str, lines: list[str], on_null: str) -> None:
        if self._version not in field.nullable:
            for line in lines:
                self._line(line)
            return
        self._line(f"if {attribute} is None:")
        self._line(f"    {on_null}")
        self._line("else:")
        for line in lines:
            self._line(f"    {line}")

    # Lengths: a number where they are part of a run, bytes where they are uvarints

    def _length_of(self, value: str) -> str:
        return f"uvarint(len({value}) + 1)" if self._flexible else f"len({value})"

    def _null_length(self, flexible: bool) -> str:
        return repr(b"\0") if flexible else "-1"

    def _length(self, item_format: str, length: str, flexible: bool) -> None:
        if flexible:
            self._piece(length)
        else:
            self._fixed(item_format, length)

    # Arrays

    def _array(self, field: FieldSchema, attribute: str) -> None:
        items, length = self._new_name(field.name), self._new_name("length")
        lines = [f"{items} = {attribute}", f"{length} = {self._length_of(items)}"]
        self._unless_null(field, attribute, lines, f"{items} = (); {length} = {self._null_length(self._flexible)}")
        self._length("i", length, self._flexible)
        element = field.element
        if isinstance(element, WireType) and element in FIXED_SIZES:
            self._piece(f"pack_vector({element.value!r}, {items})")
            return
        self._flush()
        item = self._new_name("item")
        self._line(f"for {item} in {items}:")
        self._depth += 1
        if isinstance(element, type):
            self._struct(element, item)
        else:
            self._string(FieldSchema(WireType.STRING, field.versions, name="text"), item)
        self._flush()
        self._depth -= 1

    # Tags

    def _tags(self, fields: list[FieldSchema], value: str) -> None:
        """The tag section of a struct that knows tags: mostly empty, since defaults are not written."""
        self._flush()
        section, count = self._new_name("section"), self._new_name("count")
        self._line(f"if {' or '.join(self._differs(field, f'{value}.{field.name}') for field in fields)}:")
        self._depth += 1
        self._line(f"{section} = []; {count} = 0")
        for field in fields:
            attribute = f"{value}.{field.name}"
            self._line(f"if {self._differs(field, attribute)}:")
            self._depth += 1
            self._tagged_field(field, attribute, section)
            self._line(f"{count} += 1")
            self._depth -= 1
        self._line(f"{self._out}.append(uvarint({count}))")
        self._line(f"{self._out} += {section}")
        self._depth -= 1
        self._line("else:")
        self._line(f"    {self._out}.append({bytes(1)!r})")

    def _tagged_field(self, field: FieldSchema, attribute: str, section: str) -> None:
        content, outer = self._new_name("content"), self._out
        self._line(f"{content} = []")
        self._out = content
        self._field(field, attribute)
        self._flush()
        self._out = outer
        self._line(f"{content} = b''.join({content})")
        self._line(f"{section} += (uvarint({field.tag}), uvarint(len({content})), {content})")


_RUNTIME_NAMES: Final = ("checked_uuid", "pack_vector", "refuse_value", "string_length", "uvarint")

"""Writes the Python source of a decoder: one function for one message class in one version.

Three ideas make the text fast. Neighbouring fields of fixed size are read by one precompiled `Struct`, together with the length of the string or array
behind them. Structs in arrays are decoded in place, without calls. And there is no bounds check for a string: a position beyond the end makes the next
read fail, or the check at the very end.

    def decode(buffer, position):
        limit = len(buffer)
        transactional_id_1, acks_2, ... = read_1(buffer, position)
        ...
        return ProduceRequest(transactional_id_1, acks_2, ...), position

A message with `records` is read from a memoryview, so that records can be slices; all others from bytes, whose slices are cheaper to turn into text.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Packer
from typing import Any

from pykafka_classic.protocol import codec_runtime
from pykafka_classic.protocol.schema import FIXED_SIZES, FieldSchema, Message, Struct, WireType, fields_of

Decoder = Callable[[codec_runtime.Buffer, int], tuple[Any, int]]


def has_records(kind: type[Struct]) -> bool:
    """True where a `records` field lies somewhere inside."""
    return any(field.wire_type is WireType.RECORDS or (isinstance(field.element, type) and has_records(field.element)) for field in fields_of(kind))


def compile_decoder(kind: type[Message], version: int) -> Decoder:
    """The decoder of `kind` in `version`: (buffer, position) to (message, position behind it)."""
    writer = DecoderWriter(kind, version)
    source = writer.source()
    namespace = writer.namespace
    exec(compile(source, f"<decoder of {kind.__name__} v{version}>", "exec"), namespace)
    decoder: Decoder = namespace["decode"]
    return decoder


class DecoderWriter:
    """Collects the lines of one decoder. Invariant: in the generated text `position` is where the next unread field begins, less what waits in the run."""

    def __init__(self, kind: type[Message], version: int) -> None:
        self._kind = kind
        self._version = version
        self._flexible = version in kind.FLEXIBLE_VERSIONS
        self._is_view = has_records(kind)
        self._lines: list[str] = []
        self._depth = 1
        self._names = 0
        self._run: list[tuple[str, str]] = []  # (struct format, variable) of fields not yet read
        self.namespace: dict[str, Any] = {name: getattr(codec_runtime, name) for name in _RUNTIME_NAMES}

    def source(self) -> str:
        """The text of the module that defines `decode`."""
        result = self._struct(self._kind)
        self._flush()
        self._line("if position > limit:")
        self._line("    raise SchemaError('the bytes end too early')")
        self._line(f"return {result}, position")
        return "def decode(buffer, position):\n    limit = len(buffer)\n" + "\n".join(self._lines) + "\n"

    # Lines and names

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    def _new_name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}_{self._names}"

    def _constant(self, stem: str, value: object) -> str:
        name = self._new_name(stem)
        self.namespace[name] = value
        return name

    # Runs of fixed size

    def _read(self, item_format: str, stem: str) -> str:
        """Adds a fixed-size value to the run; gives its variable."""
        name = self._new_name(stem)
        self._run.append((item_format, name))
        return name

    def _flush(self) -> None:
        """Reads the run, and moves `position` behind it."""
        if not self._run:
            return
        if [item_format for item_format, _ in self._run] == ["B"]:
            self._line(f"{self._run.pop()[1]} = buffer[position]")
            self._line("position += 1")
            return
        packer = Packer(">" + "".join(item_format for item_format, _ in self._run))
        reader = self._constant("read", packer.unpack_from)
        self._line(f"({', '.join(name for _, name in self._run)},) = {reader}(buffer, position)")
        self._line(f"position += {packer.size}")
        self._run.clear()

    # Structs and fields

    def _struct(self, kind: type[Struct]) -> str:
        """Reads a struct; gives the expression that makes it."""
        arguments: dict[str, str] = {}
        tagged: list[FieldSchema] = []
        for field in fields_of(kind):
            if not field.is_wanted(self._version):
                arguments[field.name] = self._default(field)
            elif field.tag is None:
                arguments[field.name] = self._field(kind, field)
            else:
                tagged.append(field)
                arguments[field.name] = self._new_name(field.name)
        if self._flexible:
            self._tags(kind, [(field, arguments[field.name]) for field in tagged])
        return f"{self._constant(kind.__name__, kind)}({', '.join(arguments.values())})"

    def _default(self, field: FieldSchema) -> str:
        """An expression for the value of a field that the bytes lack."""
        if field.wire_type is WireType.ARRAY and field.default is not None:
            return "[]"
        if field.wire_type is WireType.STRUCT:
            return f"{self._constant('default', field.element)}()"
        return repr(field.default)

    def _field(self, owner: type[Struct], field: FieldSchema) -> str:
        """Reads one field; gives the name of its variable or its expression."""
        match field.wire_type:
            case WireType.STRUCT:
                assert isinstance(field.element, type)
                return self._struct(field.element)
            case WireType.ARRAY:
                return self._array(owner, field)
            case WireType.STRING | WireType.BYTES | WireType.RECORDS:
                return self._variable(f"{owner.__name__}.{field.name}", field)
            case fixed:
                return self._read(fixed.value, field.name)

    def _variable(self, label: str, field: FieldSchema) -> str:
        """Reads a string, bytes or records."""
        target = self._new_name(field.name)
        start = self._new_name("start")
        length = self._length(field)
        self._line(f"if {length} < 0:")
        self._line(f"    {self._on_null(label, field, target)}")
        self._line("else:")
        self._line(f"    {start} = position")
        self._line(f"    position += {length}")
        self._line(f"    {target} = {self._slice(field.wire_type, start)}")
        return target

    def _length(self, field: FieldSchema) -> str:
        """Reads a length; gives its variable, which is negative for null."""
        is_string = field.wire_type is WireType.STRING
        if not (self._flexible and field.flexible):
            length = self._read("h" if is_string else "i", "length")
            self._flush()
            return length
        length = self._read("B", "length")
        self._flush()
        reader = "read_string_length" if is_string else "read_length"
        self._line(f"if {length} > 127:")
        self._line(f"    {length}, position = {reader}(buffer, position - 1)")
        self._line(f"{length} -= 1")
        return length

    def _on_null(self, label: str, field: FieldSchema, target: str) -> str:
        return f"{target} = None" if self._version in field.nullable else f"refuse_null({label!r})"

    def _slice(self, wire_type: WireType, start: str) -> str:
        piece = f"buffer[{start}:position]"
        if wire_type is WireType.STRING:
            return f"str({piece}, 'utf-8', 'replace')" if self._is_view else f"{piece}.decode('utf-8', 'replace')"
        return f"bytes({piece})" if wire_type is WireType.BYTES and self._is_view else piece

    # Arrays

    def _array(self, owner: type[Struct], field: FieldSchema) -> str:
        target = self._new_name(field.name)
        label = f"{owner.__name__}.{field.name}"
        count = self._length(field)
        self._line(f"if {count} < 0:")
        self._line(f"    {self._on_null(label, field, target)}")
        self._line("else:")
        self._depth += 1
        self._line(f"if {count} > (limit - position) // {self._min_size(field.element)}:")
        self._line(f"    refuse_count({label!r}, {count}, limit - position)")
        self._elements(field, target, count)
        self._depth -= 1
        return target

    def _elements(self, field: FieldSchema, target: str, count: str) -> None:
        element = field.element
        if isinstance(element, WireType) and element in FIXED_SIZES:
            self._line(f"{target} = unpack_vector(buffer, position, {element.value!r}, {count}) if {count} else []")
            self._line(f"position += {count} * {FIXED_SIZES[element]}")
            return
        self._line(f"{target} = []")
        self._line(f"for _ in range({count}):")
        self._depth += 1
        if isinstance(element, type):
            item = self._struct(element)
        else:
            assert element is WireType.STRING
            item = self._variable(field.name, FieldSchema(element, field.versions, name="item"))
        self._flush()
        self._line(f"{target}.append({item})")
        self._depth -= 1

    def _min_size(self, element: WireType | type[Struct] | None) -> int:
        """The fewest bytes that an element can have."""
        if isinstance(element, WireType):
            return FIXED_SIZES.get(element) or (1 if self._flexible else 2 if element is WireType.STRING else 4)
        assert element is not None
        fields = [field for field in fields_of(element) if field.is_wanted(self._version) and field.tag is None]
        sizes = [self._min_size(field.element if field.wire_type is WireType.STRUCT else field.wire_type) for field in fields]
        return sum(sizes) + self._flexible

    # Tags

    def _tags(self, kind: type[Struct], known: list[tuple[FieldSchema, str]]) -> None:
        """Reads the tag section at the end of a struct."""
        count = self._read("B", "tags")
        self._flush()
        for field, target in known:
            self._line(f"{target} = {self._default(field)}")
        self._line(f"if {count}:")
        self._depth += 1
        if known:
            self._known_tags(kind, known, count)
        else:
            self._line("position = skip_tags(buffer, position - 1)")
        self._depth -= 1

    def _known_tags(self, kind: type[Struct], known: list[tuple[FieldSchema, str]], count: str) -> None:
        tag, size, end = self._new_name("tag"), self._new_name("size"), self._new_name("end")
        self._line(f"{count}, position = read_length(buffer, position - 1)")
        self._line(f"{tag} = -1")
        self._line(f"for _ in range({count}):")
        self._depth += 1
        self._line(f"{tag}, position = read_tag(buffer, position, {tag})")
        self._line(f"{size}, position = decode_uvarint(buffer, position)")
        self._line(f"{end} = position + {size}")
        for field, target in known:
            self._line(f"if {tag} == {field.tag}:")
            self._depth += 1
            self._line(f"{target} = {self._tagged_value(kind, field)}")
            self._line(f"if position != {end}:")
            self._line(f"    refuse_tag_size({kind.__name__ + '.' + field.name!r})")
            self._depth -= 1
        self._line(f"position = {end}")
        self._depth -= 1

    def _tagged_value(self, kind: type[Struct], field: FieldSchema) -> str:
        value = self._field(kind, field)
        self._flush()
        return value


_RUNTIME_NAMES = (
    "SchemaError",
    "decode_uvarint",
    "read_length",
    "read_string_length",
    "read_tag",
    "refuse_count",
    "refuse_null",
    "refuse_tag_size",
    "skip_tags",
    "unpack_vector",
)

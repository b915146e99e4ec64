"""Large messages that are sent again and again, encoded once.

`KeptMetadata` is the answer to who asks for all topics, the same for all until something changes.

`SharedUpdateMetadata` is one message for many brokers, alike but for the broker epoch. UpdateMetadata goes to all brokers and may tell of thousands of
partitions. It begins (from version 5 on, where broker epochs came):

| bytes | field |
|---|---|
| 0-3 | controller_id i32 |
| 4-7 | controller_epoch i32 |
| 8-15 | broker_epoch i64 |
| 16- | all else, the same for all addressees |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from struct import Struct
from typing import Final

from pykafka_classic.protocol.codec_encoder import Encoder
from pykafka_classic.protocol.codec_encoder import compile_encoder as compile_from_schema
from pykafka_classic.protocol.messages.metadata import MetadataResponse
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from pykafka_classic.protocol.schema import Records

HEAD: Final = Struct(">iiq")
BROKER_EPOCH_VERSION: Final = 5
assert HEAD.size == 16


class SharedUpdateMetadata(UpdateMetadataRequest):
    """An UpdateMetadata of which others with other broker epochs exist. Nobody changes it once it is built."""

    __slots__ = ("_tails",)

    _tails: dict[int, bytes]  # version -> what follows the head; shared by all copies

    @staticmethod
    def own_encoder(version: int) -> Encoder:
        """What the codec is to use in place of the schema's."""
        whole = compile_from_schema(UpdateMetadataRequest, version)
        if version < BROKER_EPOCH_VERSION:
            return whole

        def encode(message: SharedUpdateMetadata, pieces: list[Records], large: list[int]) -> None:
            tail = message._tails.get(version)
            if tail is None:
                encoded: list[Records] = []
                whole(message, encoded, large)
                tail = message._tails[version] = b"".join(encoded)[HEAD.size :]  # type: ignore[arg-type]  # it has no records, which may be in files
            pieces += (HEAD.pack(message.controller_id, message.controller_epoch, message.broker_epoch), tail)

        return encode


def for_each_broker(request: UpdateMetadataRequest, broker_epochs: Iterable[int]) -> list[SharedUpdateMetadata]:
    """The request for each of these broker epochs."""
    tails: dict[int, bytes] = {}
    values = {each.name: getattr(request, each.name) for each in fields(request)}
    copies = []
    for broker_epoch in broker_epochs:
        copy = SharedUpdateMetadata(**{**values, "broker_epoch": broker_epoch})
        copy._tails = tails
        copies.append(copy)
    return copies


class KeptMetadata(MetadataResponse):
    """A Metadata answer that is given more than once. Nobody changes it once it is built."""

    __slots__ = ("_encoded",)

    _encoded: dict[int, bytes]  # by version

    @staticmethod
    def of(response: MetadataResponse) -> KeptMetadata:
        """The same answer, to be kept."""
        kept = KeptMetadata(**{each.name: getattr(response, each.name) for each in fields(response)})
        kept._encoded = {}
        return kept

    @staticmethod
    def own_encoder(version: int) -> Encoder:
        """What the codec is to use in place of the schema's."""
        whole = compile_from_schema(MetadataResponse, version)

        def encode(message: KeptMetadata, pieces: list[Records], large: list[int]) -> None:
            encoded = message._encoded.get(version)
            if encoded is None:
                fresh: list[Records] = []
                whole(message, fresh, large)
                encoded = message._encoded[version] = b"".join(fresh)  # type: ignore[arg-type]  # as above
            pieces.append(encoded)

        return encode

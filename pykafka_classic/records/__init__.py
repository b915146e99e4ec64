"""Records: the bytes that clients, brokers and log files share.

The idea: a record is never alone. Producers send batches, leaders stamp and write batches, followers copy batches, consumers get batches. Only at the two ends
is a record decoded. So the types here are views over bytes that someone else owns: `iterate_batches` finds the batches, one struct unpack reads a header, one
call checks a checksum.

Three formats exist, told apart by the magic byte: 2 (Kafka 0.11 and later) is the batch proper; 0 and 1 are single messages, of which a compressed one wraps
others. A broker keeps what it gets if the topic wants that format, writes it anew if not, and converts downward for consumers that are older than the log.

Reading order: `layout` (where each byte stands), `record` (one record and its bytes), `record_batch` (magic 2), `message_set` (magic 0 and 1), `compression`
with `snappy_framing` and `lz4_framing`, `batch_builder` (writing), `control` (markers of transactions), `conversion` (downward, for a fetch), `record_scan`
(looking without decoding, for an append).

Mirrors: `org.apache.kafka.common.record` of Kafka 2.8's clients.

Differs from Kafka:

* What a batch unpacks to is limited (128 MiB, `compression.DECOMPRESSED_SIZE_MAX`); a batch beyond that is refused with MESSAGE_TOO_LARGE, on which a producer
  splits it. Kafka has no limit.
* A wrapper of magic 0 or 1 whose inner set ends within a message is refused; Kafka leaves the cut message out.
* Compressed data behind a wrong lz4 frame or with surplus bytes behind the records is refused in the same places as in Kafka; the exceptions are
  `CorruptRecord` (CORRUPT_MESSAGE) and `InvalidRecord` (INVALID_RECORD) only.
* Down-conversion does not send a batch twice behind a control batch (`conversion`).
* What an append checks of single records: `log/log_validator.py`.
"""

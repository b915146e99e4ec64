"""Kafka's wire protocol: frames, headers, messages in all their versions, and the two ends of a connection, without any socket.

The idea: a message is described once, as a dataclass that also says how its fields travel (`schema.py`, `messages/`); the code that reads and writes
each version is generated from that (`codec.py`). Everything is bytes in, bytes out, so the same connection serves a Twisted server, a Twisted client
and a blocking one.

Reading order: `schema`, `messages/heartbeat` (a small one), `messages/fetch` (a rich one), `codec` with `codec_decoder` and `codec_encoder`; then
`framing`, `headers`, `api_keys`, `connection`; `ibp` for what brokers send to each other during an upgrade; `network` is the seam to other brokers.

Mirrors 2.8:clients/src/main/java/org/apache/kafka/common/{protocol,requests,network} and 2.8:clients/src/main/resources/common/message.

Differs from Kafka:
- Unknown tagged fields are skipped, not kept. A known tagged field must fill exactly the size that its tag announces; Kafka does not look.
- An array may not announce more elements than the remaining bytes can hold; Kafka counts one byte for each, we the least that such an element needs.
- A request of zero bytes closes the connection at the frame, Kafka's at the header: the client sees the same.
"""

"""One module per API: read the request, ask a part of the broker, write the response.

Each has `handle(broker, request)`, which returns the response, a promise of it, or None for no response. The modules decide nothing themselves: the rules
live in the replica manager, the controller and the coordinators. Begin with `table.py`, then `produce.py` and `fetch.py`.

Mirrors kafka.server.KafkaApis. Differs from Kafka: one file per API instead of one of 3,356 lines; no authorizer yet.
"""

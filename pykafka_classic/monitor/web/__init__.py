"""The monitor's pages and its API: what people see of a cluster, and do to it, in a browser.

The idea: pages are whole HTML documents made on the server, so that they work without scripts, can be linked to, and can be read by a screen reader or `curl`.
A small script asks for the same page again when the server says (by server-sent events) that something has changed, and puts in what differs. Queries and
templates run in threads; the reactor's thread only moves bytes and talks to brokers.

Reading order: exchange (a request and an answer as values), routes (which function answers what), access (who may), operations/ (all that changes a cluster,
declared once for forms and API), pages/ (one module for a page), api (JSON), openapi (their description), live (server-sent events), render (templates), then
app (all of it together) and server (the edge to Twisted).

Mirrors: the pages of Kafka Eagle (EFAK), with the ZooKeeper pages that its newer releases dropped.

Differs from Kafka: it has no pages of its own.
"""

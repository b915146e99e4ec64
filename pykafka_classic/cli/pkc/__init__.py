"""`pkc`: one friendly command for what people do with a cluster every day; `docs/pkc.md` shows it at work.

The idea: Kafka's tools keep Kafka's words, for scripts that parse them (`cli/`). Here nothing has to look like Kafka: one command with subcommands, tables
that fit, JSON lines on request, both sides of the cluster (brokers and ZooKeeper) found from either.

Reading order: main (how a command line becomes an exit status), cluster (finding brokers and ZooKeeper), tables; then any command. What decides is pure and
apart: record_format and input_lines (records to text and back), read_plan (from where to where), rows (tables), znode_tree (drawings of
ZooKeeper's tree). Two kinds of module wait for things: znode_mirror (a copy of the tree that watches keep up to date), and the commands themselves. What has
changed, and what that means in words: `monitor/`.

Mirrors: nothing of Kafka's; kcat's letters in formats and offsets (`-o`, `%t %p %o`).

Differs from Kafka: the exit status is 0 where all went well, 1 where not, 2 for a command line that means nothing, 130 after Ctrl-C.
"""

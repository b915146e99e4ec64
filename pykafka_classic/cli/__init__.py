"""The command line tools: one module per command, with Kafka's names, options and output.

The idea: a tool turns its options into a few calls and prints what comes back; scripts that read the output of Kafka's tools must be able to read ours.

Reading order: server_start, command_options (how a command line is taken apart), then any tool. `tools/*.sh` holds a launcher of a line for each.

Mirrors: 2.8:bin/ and 2.8:core/src/main/scala/kafka/{admin,tools}.

Differs from Kafka: `kafka-server-stop.sh` and `zookeeper-server-stop.sh` stop what was started by the launchers with the same $LOG_DIR, by the pid files there,
instead of whatever Java process of that name runs on the machine.
"""

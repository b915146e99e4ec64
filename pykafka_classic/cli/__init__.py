"""The command line tools: one module per command, with Kafka's names, options and output.

The idea: a tool turns its options into a few calls and prints what comes back; scripts that read the output of Kafka's tools must be able to read ours.

Reading order: command (how a tool runs: errors, exit statuses, Ctrl-C), command_options (how a command line is taken apart), zookeeper_session and
broker_session (whom it asks), then any tool; topics is a good first one. `commands` says which module is which tool; `tools/*.sh` holds a launcher of a line
for each. Tools that Kafka has in two forms have two modules behind one command line: NAME_zookeeper and NAME_broker.

Mirrors: 2.8:bin/ and 2.8:core/src/main/scala/kafka/{admin,tools}.

Differs from Kafka: errors are a sentence, never a stack trace; who cannot be reached is told within five seconds; a mistyped option gets the nearest suggested.
Case by case: tests/integration/cli_differences.py. `kafka-server-stop.sh` and `zookeeper-server-stop.sh` stop what was started by the launchers with the same
$LOG_DIR, by the pid files there, instead of whatever Java process of that name runs on the machine.
"""

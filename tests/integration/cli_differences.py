"""Where our tools differ from Apache's on purpose, case by case of tests/golden/data/cli, and why."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Compared(Enum):
    """What is compared all the same."""

    NOTHING = "nothing"
    STATUS = "the exit status"
    STDERR = "stderr"
    STATUS_AND_STDOUT = "exit status and stdout"
    SHAPE = "everything, but of numbers only how precise they are"
    COUNTS = "everything, but of replicas their number"
    LINES = "everything, but the order of lines"
    SOME_LINES = "everything, but lines of topics placed by lot"


class Difference(NamedTuple):
    """What is compared, and why not everything."""

    compared: Compared
    why: str


_VERSION: Final = Difference(Compared.STATUS, "the version is our own")
_LOT: Final = Difference(Compared.COUNTS, "replicas are placed by lot")
_LOT_LINES: Final = Difference(Compared.SOME_LINES, "which partitions of zebra, counted and plain lack broker 2 is a matter of lot")
_UNREACHABLE: Final = Difference(Compared.STATUS, "one sentence within five seconds, on stderr, that says what was tried; Kafka waits for up to a minute")
_FILE: Final = Difference(Compared.STATUS_AND_STDOUT, "the sentence says what is wrong with the file; Kafka says only its name")
_JSON: Final = Difference(Compared.STATUS, "Python's parser says in its own words what is wrong with the JSON")
_SAYS_WHY: Final = Difference(Compared.STATUS_AND_STDOUT, "our sentence gives the reason, which stands in the middle of Kafka's stack trace")
_HELP: Final = Difference(Compared.STATUS_AND_STDOUT, "the list of commands is that of our shell")
_FEWER: Final = Difference(
    Compared.STATUS, "the ephemeral node /e/x is gone with the session that made it: ours is ended by the tool, Apache's when its time is up"
)
_GOES_ON: Final = Difference(Compared.STDERR, "the shell says what is wrong with the line and goes on; Apache's ends with a stack trace")
_EARLY: Final = Difference(Compared.STDERR, "in the recording the tool was done before it had heard of its connection")
_EXISTS: Final = Difference(
    Compared.NOTHING, "the ZooKeeper that our clusters bring along (3.9) lets only readers of a node ask for its stat; the same without access lists: -odd"
)
_WAITS: Final = Difference(Compared.STATUS_AND_STDOUT, "Kafka waits without a word for what is not there; ours says so")
_COMMITS: Final = Difference(Compared.STATUS, "how many commits there are depends on how often the group's members commit")
_USAGE: Final = Difference(Compared.STATUS, "usage texts are our own words")
_FIGURES: Final = Difference(Compared.SHAPE, "how fast it was")
_ADDRESS: Final = Difference(Compared.STATUS, "our sentence says which form is wanted")

DIFFERENCES: Final[dict[str, dict[str, Difference]]] = {
    "kafka-topics": {
        "version": _VERSION,
        "describe zk all": _LOT,
        "describe bs all": _LOT,
        "describe bs internal": _LOT,
        "describe zk under replicated": _LOT_LINES,
        "describe bs under replicated": _LOT_LINES,
        "describe bs at min isr away": _LOT_LINES,
        "describe bs at min isr": _LOT_LINES,
        **dict.fromkeys(("describe bs under min isr", "describe zk unavailable", "describe bs unavailable"), _LOT_LINES),
        "list bs nobody": _UNREACHABLE,
        "list zk nobody": _UNREACHABLE,
        "list bs no port": Difference(Compared.NOTHING, "without a port 9092 is meant here, and whoever listens there is asked; Kafka refuses"),
        "list bs bad port": _ADDRESS,
        "list bs empty": _ADDRESS,
        "command config file missing": _FILE,
    },
    "kafka-delete-records": {
        "version": _VERSION,
        "offsets after": Difference(Compared.NOTHING, "2.8 does not know --bootstrap-server; Kafka 3 does, and so do we"),
    },
    "kafka-log-dirs": {
        "version": _VERSION,
        "api versions": Difference(Compared.STATUS, "our brokers do not serve SASL and access control lists"),
        "unknown broker": Difference(Compared.STATUS, "refused at once, in the words of Kafka 3; 2.8 waits for a minute"),
    },
    "kafka-verifiable-producer": {
        "no arguments": _USAGE,
        "producer perf no arguments": _USAGE,
        "producer perf": _FIGURES,
        "consumer perf": _FIGURES,
    },
    "kafka-console-producer": {
        "version": _VERSION,
        "compression unknown": _SAYS_WHY,
        "invalid topic": Difference(Compared.STATUS_AND_STDOUT, "the sentence stands alone; with Kafka in three lines of its log"),
    },
    "kafka-console-consumer": {
        "version": _VERSION,
        "unknown partition": _WAITS,
        "isolation unknown": Difference(Compared.STATUS_AND_STDOUT, "the sentence is our client's"),
        "formatter of offsets": _COMMITS,
        "nobody": Difference(Compared.NOTHING, "one sentence within five seconds, with status 1; Kafka says at the end that it has read nothing"),
    },
    "kafka-console-consumer-formatters": {
        "groups": Difference(Compared.STATUS, "names and members are drawn by lot; tests/unit/cli/test_internal_formatters.py compares a line"),
        **dict.fromkeys((f"{kind} of another topic" for kind in ("offsets", "groups", "transactions")), _SAYS_WHY),
        "skips on error": Difference(Compared.STATUS_AND_STDOUT, "ours says of each record why it cannot be printed; Kafka in lines of its log"),
        "unknown formatter": Difference(Compared.STATUS_AND_STDOUT, "our sentence says which formatters there are"),
        **dict.fromkeys(("unknown partition", "unknown partition from beginning", "partition of unknown topic"), _WAITS),
    },
    "kafka-consumer-groups": {
        "nobody": Difference(Compared.STATUS, "one sentence within five seconds that says what was tried"),
    },
    "kafka-configs": {
        "version": _VERSION,
        "describe all": Difference(
            Compared.LINES, "keys of one hash bucket come as the broker tells of them, and Kafka's broker keeps them in a Scala hash map"
        ),
        "unknown topic": Difference(Compared.STATUS_AND_STDOUT, "Kafka's sentence is empty"),
    },
    "kafka-reassign-partitions": {
        "version": _VERSION,
        "generate": _LOT,
        "generate zk": _LOT,
        "rubbish": _JSON,
    },
    "kafka-reassign-partitions-zookeeper": {"generate": _LOT, "generate two": _LOT, "rubbish": _JSON, "nobody": _UNREACHABLE},
    "zookeeper-shell": {"frobnicate": _HELP, "help": _HELP, "nobody": _UNREACHABLE},
    "zookeeper-shell-more": {
        **dict.fromkeys(("getEphemerals", "getAllChildrenNumber", "version", "no command"), _HELP),
        "create child": _EARLY,
        **dict.fromkeys(("ls -s", "ls -R /", "ls2", "getAcl -s"), _FEWER),
        "quoted": Difference(Compared.STATUS, "an escaped quote in a quoted word stays in it"),
    },
    "zookeeper-shell-rest": {
        "setAcl one colon": _EARLY,
        **dict.fromkeys(("without auth stat", "removewatches any", "stat -w"), _EXISTS),
        **dict.fromkeys(("setquota", "setquota again", "setquota of child", "listquota", "listquota both", "listquota after"), _EXISTS),
        **dict.fromkeys(("listquota after both", "delquota -n", "delquota -b", "delquota"), _EXISTS),
        "ls quota": _EXISTS,
        "redo": _GOES_ON,
        "delete with version": _GOES_ON,
        "printwatches": Difference(Compared.LINES, "in the recording the tool hears of its connection only behind the first commands"),
    },
    "zookeeper-shell-odd": {
        "closed": _HELP,
        "quota bad path": Difference(Compared.NOTHING, "ours says that q is no path"),
        "delete all": Difference(Compared.STATUS_AND_STDOUT, "refused as well, but in a sentence that says why"),
        "reconfig no file": _FILE,
        "watches": Difference(Compared.LINES, "in the recording watches are told of in the midst of what the next command prints"),
    },
    "kafka-leader-election": {"version": _VERSION},
    "odd-lines": {
        "verifiable-producer --help": _USAGE,
        "console-consumer --topic one --consumer-property auto.offset.reset=none --group never --timeout-ms 3000": _SAYS_WHY,
        "console-consumer --topic 'bad name' --from-beginning --timeout-ms 3000": _SAYS_WHY,
        "console-consumer --whitelist [c --from-beginning --max-messages 2": _SAYS_WHY,
        "console-consumer --topic '' --from-beginning --timeout-ms 3000": _SAYS_WHY,
        "console-producer --topic one --line-reader nonsense <<< z\\n": _SAYS_WHY,
    },
    "kafka-preferred-replica-election": {"nobody": _UNREACHABLE, "in progress": _SAYS_WHY},
    "kafka-configs-zookeeper": {"file missing": _FILE, "nobody": _UNREACHABLE},
}

"""What is made alike before the output of one of our tools is compared with what Apache's tool printed. Each rule has its reason; nothing else may differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_CLASS: Final = r"(?:[a-z][\w$]*\.)+[A-Z][\w$]*"
STACK: Final = "\tat {STACK}\n"


class Mask(NamedTuple):
    """A pattern, what stands for it, and why."""

    pattern: re.Pattern[str]
    stands: str
    why: str


def _mask(pattern: str, stands: str, why: str) -> Mask:
    return Mask(re.compile(pattern, re.MULTILINE), stands, why)


# Only Apache's output has these.
OF_JAVA: Final = (
    _mask(rf"^{_CLASS}: (No key found on line .*)\n", r"\1\n", "the class of the error before the sentence"),
    _mask(rf"^(?:{_CLASS})\n", "", "the class of an error without a text: it stands below a log line that tells of it"),
    _mask(rf"^(Error while executing config command with args .*\n)(?:{_CLASS}: )+", r"\1", "the class of the error before the sentence that says why"),
    _mask(r"^\[@TIME@\] WARN (New offset .*) \([\w.$]+\)$", r"WARN \1", "ours says it without the time and the class of a log line"),
    _mask(rf"^{_CLASS}: .*\n(?=\tat )", "", "the head of a stack trace: stdout has said it"),
    _mask(r"^\[@TIME@\] ERROR (?:(?!^\[@TIME@\]).|\n)*?^ \([\w.$]+\)\n", "", "the tool's log repeats, with a trace, what stdout has said"),
    _mask(r"^\[@TIME@\] (?:WARN|ERROR) .*\([\w.$]+\)\n", "", "the log of Kafka's client library: ours tells the outcome"),
    _mask(r"^log4j:WARN .*\n", "", "a library's complaint that it has not been configured"),
    _mask(r"^\t(?:at \{STACK\}|Suppressed: .*)\n", "", "a stack trace: ours never prints one"),
    _mask(r"^Caused by: .*\n", "", "the rest of a stack trace"),
    _mask(r'^Exception in thread "main" ', "", "what Java puts before the sentence"),
    _mask(rf"^Error: (?:{_CLASS}: )?(.*)\n{_CLASS}: (?:{_CLASS}: )?\1\n", r"Error: \1\n", "head of a stack trace, that says the sentence again"),
    _mask(rf"(?<=preferred leader election for partition: )(\S+): {_CLASS}: ", r"\1: ", "the name of a Java class of errors before its text"),
    _mask(rf"^(Error: )?(?:{_CLASS}: )+", r"\1", "the names of Java's classes of errors mean nothing here"),
)

# Only ours has these.
OF_OURS: Final = (
    _mask(r"^Option +Description *\n(?:.*\n)*", "{USAGE}\n", "usage texts are our own words"),
    _mask(r"\. Did you mean --[\w-]+\?$", "", "a mistyped option gets the nearest one suggested"),
)

# What differs from run to run.
VOLATILE: Final = (
    _mask(r'(?<="avg_throughput":)[\d.E-]+', "@RATE@", "how fast it was"),  # first: its digits may look like a time
    _mask(r"(?<=-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "@UUID@", "the second part of a member id is drawn by lot"),
    _mask(r"(?<=\[)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}(?=\])", "@TIME@", "the time of a log line"),
    _mask(r"(?<=TopicId: )\S{22}", "@ID@", "a topic id is drawn by lot"),
    _mask(r'(?<="topic_id":")\S{22}(?=")', "@ID@", "a topic id is drawn by lot"),
    _mask(r"\b1[6789]\d{11}\b", "@MS@", "the time, in ms"),
    _mask(r"(?<=Cluster ID: )\S{22}", "@ID@", "a cluster's id is drawn by lot"),
    _mask(r"\[I@[0-9a-f]+|(?<=factor: )\[[\d, ]+\]", "@ARRAY@", "Java prints where a list lies in memory, ours what is in it"),
    _mask(r"salt=[\w+/=]+,stored_key=[\w+/=]+,server_key=[\w+/=]+", "@SALTED@", "salt is drawn by lot"),
    _mask(r"\b0x[0-9a-f]+\b", "@HEX@", "transaction and session ids"),
    _mask(r"(?<=time = )\w{3} \w{3} \d\d [\d:]{8} \w+ \d{4}", "@DATE@", "when a node was made"),
)

# Replicas that were placed by lot: how many there are counts.
PLACED: Final = re.compile(r"Leader: \d+\tReplicas: ([\d,]+)\tIsr: ([\d,]+)")
NUMBER: Final = re.compile(r"\d+(?:\.(\d+))?")
OF_LOT: Final = re.compile(r"^\tTopic: (?:zebra|counted|plain)\t.*\n", re.MULTILINE)
PROPOSED: Final = re.compile(r'"replicas":\[([\d,]+)\]')


def alike(text: str, addresses: Mapping[str, str]) -> str:
    """A text with names for what differs from run to run. `addresses`: names by what stands in the text."""
    for address, name in addresses.items():
        text = text.replace(address, name)
    return _masked(text, VOLATILE)


def of_java(text: str) -> str:
    """Apache's, without what only Java would print. Where a trace is cut out, blank lines behind it go too."""
    masked = _masked(text, OF_JAVA)
    return masked.rstrip("\n") + "\n" if masked != text and masked.strip() else masked if masked.strip() else masked.strip(" ")


def of_ours(text: str) -> str:
    """Ours, without what it says beyond Kafka's words."""
    return _masked(text, OF_OURS)


def counted(text: str) -> str:
    """A text in which replicas are only counted."""
    text = PLACED.sub(lambda found: f"Replicas: {_count(found[1])}\tIsr: {_count(found[2])}", text)
    return PROPOSED.sub(lambda found: f'"replicas":{_count(found[1])}', text)


def shape(text: str) -> str:
    """A text in which numbers are only as precise as they were."""
    return NUMBER.sub(lambda found: "#" + (f".{len(found[1])}" if found[1] else ""), text)


def without_lot(text: str) -> str:
    """A text without the partitions of topics whose replicas were placed by lot."""
    return OF_LOT.sub("", text)


def _count(ids: str) -> int:
    return len(ids.split(","))


def _masked(text: str, masks: tuple[Mask, ...]) -> str:
    for mask in masks:
        text = mask.pattern.sub(mask.stands, text)
    return text

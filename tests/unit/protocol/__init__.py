"""Mirrors pykafka_classic/protocol."""

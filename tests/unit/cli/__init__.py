"""Mirrors pykafka_classic/cli."""

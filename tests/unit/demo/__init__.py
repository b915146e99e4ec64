"""Mirrors pykafka_classic/demo."""

"""Stories in plain text: commands, and what the cluster did. Each opens with the question that it answers, and is a test.

Run `pytest tests/transcripts`; after a change that is meant to change them, `pytest tests/transcripts --rewrite`, and read the difference as a reviewer.
"""

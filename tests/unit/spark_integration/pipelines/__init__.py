"""Mirrors spark_integration/pipelines."""

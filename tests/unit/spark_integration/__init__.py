"""Mirrors spark_integration."""

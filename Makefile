# Everything that people do here. Each target does its own set-up: `make setup` makes .venv in this folder, once, from the lock files in requirements/.

# `make demo PORTS=free` and `make cluster PORTS=free` take free ports instead of 2181 and 9092-9094.
PYTHON ?= python3
VENV := .venv/bin
# Test files are shared out to several processes; each starts its own clusters on free ports.
PYTEST_FLAGS ?= -n auto --maxprocesses 4 --dist loadfile
# How many runs `make simulate` makes; `make simulate SEED=17` makes one again.
SEEDS ?= 1000

.DEFAULT_GOAL := help
.PHONY: help setup demo pipeline cluster monitor test simulate docs format coverage chaos faults spark-releases bench bench-parts lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## make the environment in .venv (does nothing when it is up to date)
	@PYTHON="$(PYTHON)" tools/setup.sh

demo: setup ## a cluster, real flights, a killed leader, and no record lost: about a minute
	@$(VENV)/python -m pykafka_classic.demo $(PORTS:%=--%-ports)

pipeline: setup ## a year of flights through two jobs on Spark, one of them killed, and totals equal to the file's: one to two minutes on two cores
	@$(VENV)/python -m spark_integration.pipelines.run $(PORTS:%=--%-ports)

cluster: setup ## the demo's cluster (ZooKeeper on 2181, brokers on 9092-9094) until Ctrl-C
	@$(VENV)/python -m pykafka_classic.demo.cluster $(PORTS:%=--%-ports)

test: setup ## style, types, floors, then all tests
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports --config setup.cfg
	$(VENV)/python -m pytest $(PYTEST_FLAGS)

monitor: setup ## the monitor of config/monitor.properties' clusters on http://127.0.0.1:8048 until Ctrl-C
	@tools/kafka-eagle.sh start

simulate: setup ## whole brokers under 1,000 seeds of faults: minutes. SEED=17 runs one again and prints its schedule
	$(VENV)/python -m tests.simulation $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

docs: setup ## the pages that are made of the code: docs/tools.md, docs/events.md
	$(VENV)/python -m pykafka_classic.cli.manual > docs/tools.md
	$(VENV)/python -m pykafka_classic.monitor.events_page > docs/events.md

format: setup ## put the code into the house's form
	$(VENV)/ruff check --fix .
	$(VENV)/ruff format .

coverage: setup ## which lines no test reaches
	$(VENV)/coverage run -m pytest
	$(VENV)/coverage report

chaos: setup ## kill -9 under load, fifty rounds: acknowledged N, lost 0 (ROUNDS=50 SEED=...)
	$(VENV)/python -m tests.chaos.kill_loop --rounds $(or $(ROUNDS),50) $(SEED:%=--seed %)

faults: setup ## releases of Apache Kafka from 0.10.2 on as peers, and an ensemble of ZooKeepers that fails: half an hour
	$(VENV)/python -m pytest -q tests/chaos/zookeeper_ensemble.py tests/chaos/mixed_clusters.py

spark-releases: setup ## the tests of the Spark source with PySpark 4.1.4 and 4.2.1, each in an environment of its own: ten minutes (RELEASES=...)
	tools/spark_releases.sh $(or $(RELEASES),4.1.4 4.2.1)

bench: setup ## beside Apache Kafka 2.8.2, a quarter of an hour: table, JSON and picture in docs/bench. QUICK=1: three minutes, ONLY=produce-1k,...
	$(VENV)/python tools/bench/compare.py $(if $(QUICK),--quick) $(ONLY:%=--only %) $(ROUNDS:%=--rounds %)

bench-parts: setup ## figures of parts: the log, the codecs of messages, groups, the controller, clients
	$(VENV)/python tools/bench/clients.py
	$(VENV)/python tools/bench/log.py
	$(VENV)/python tools/bench/reactor_lag.py
	$(VENV)/python tools/bench/controller.py
	$(VENV)/python tools/bench/groups.py
	$(VENV)/python tools/bench/groups_cluster.py
	$(VENV)/python tools/bench/spark_read.py

lock: ## write the lock files in requirements/ anew (needs pip-tools)
	tools/lock.sh

clean: ## remove what the targets above made
	rm -rf .venv .venv-pyspark-* build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage logs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

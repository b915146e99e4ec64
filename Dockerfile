# A broker and the tools, from this checkout: docker build -t pykafka-classic .
# Another base with Python 3.11: docker build --build-arg PYTHON_IMAGE=registry.example/python:3.11-slim -t pykafka-classic .
ARG PYTHON_IMAGE=python:3.11-slim

FROM $PYTHON_IMAGE AS build
WORKDIR /opt/pykafka_classic
COPY requirements/broker.txt requirements/
RUN python3 -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r requirements/broker.txt \
    && .venv/bin/python -m pip uninstall --quiet --yes pip setuptools
COPY zk_schema zk_schema
COPY pykafka_classic pykafka_classic
COPY tools/*.sh tools/
COPY config config
# Compiled once here: whoever runs it later may not write.
RUN .venv/bin/python -m compileall -q pykafka_classic zk_schema

FROM $PYTHON_IMAGE
RUN groupadd --gid 1001 kafka \
    && useradd --uid 1001 --gid kafka --home-dir /var/lib/kafka --no-create-home --shell /usr/sbin/nologin kafka \
    && install --directory --owner=kafka --group=kafka /var/lib/kafka /var/log/kafka
COPY --from=build /opt/pykafka_classic /opt/pykafka_classic
# Log lines go to standard output, for the engine to keep.
ENV PATH=/opt/pykafka_classic/tools:$PATH \
    PYTHONPATH=/opt/pykafka_classic \
    LOG_DIR=/var/log/kafka \
    KAFKA_LOG4J_OPTS=-Dlog4j.configuration=file:/opt/pykafka_classic/config/log4j-stdout.properties
USER kafka
WORKDIR /var/lib/kafka
VOLUME /var/lib/kafka
EXPOSE 9092
STOPSIGNAL SIGTERM
ENTRYPOINT ["kafka-server-start.sh"]
CMD ["/opt/pykafka_classic/config/server.properties"]

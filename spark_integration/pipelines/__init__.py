"""Two jobs to copy: flights through a topic, cleaned, counted by day, carrier and airport, and checked against the file. `make pipeline` runs both.

The idea: stages are functions from DataFrame to DataFrame that know neither topics nor streams (flight_rows, delay_statistics, result_rows, dead_letters), so
that each is tested with a handful of rows; a job wires them between a source and its sinks (delays, totals).

Reading order: flight_rows, delay_statistics, result_rows, dead_letters; delays, totals with plain_count; then data_set, loading, and run, which is
`make pipeline`.

Mirrors: nothing in Kafka.

Differs from Kafka: Kafka Streams would keep the state beside the topics; here it is Spark's, in the checkpoint.
"""

"""SQL over topics: what a question needs of a topic is fetched, put into an embedded DuckDB as a table, and the question is asked there.

The idea: a look at what lies in a topic should cost one line, `select carrier, avg(dep_delay) from topic flights group by carrier`, and nothing that has to be
set up. JSON objects become columns, lines of CSV too. What is fetched is bounded in records and bytes, what DuckDB takes in memory; whoever needs more is
pointed to Spark.

Reading order: question (which topics a statement speaks of), plan (what of them is fetched), records_file (records on their way into DuckDB), engine (DuckDB,
shut off from files and network), then `ask` in asking. For pages: `await asking.ask(admin.core, text, Bounds(), progress)`; DuckDB's part blocks, so it is
given a thread.

Mirrors: the Spark data source (spark_integration/), in small.

Differs from Kafka: it has no SQL of its own; ksqlDB is a server beside it.
"""

"""What a producer decides: which partition, which batch, when to send, what to do with each answer. No sockets, threads or clock of its own.

Idea: a record travels in a batch. It waits for company, at most `linger_ms`, in the open batch of its partition; batches whose leader is the same broker
share a request; a batch is settled once, and with it all its records. Retries, sequence numbers and time limits are those of batches.

Reading order: producer_settings, partitioners, delivery (a record on its way, a batch), record_accumulator (the queue of each partition), producer_identity
(idempotence: ids, epochs, sequences), sender (requests and answers), producer_core (joins them).

Mirrors: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/{KafkaProducer,ProducerConfig}.java, .../producer/internals/{RecordAccumulator,Sender,
TransactionManager,ProducerBatch,DefaultPartitioner,StickyPartitionCache}.java.

Differs from Kafka: no transactions. A batch in flight is not given up before its request ends: `delivery_timeout_ms` may be exceeded by one request time-out.
While a batch is being tried again, its partition has one batch in flight. Old brokers, before 0.11, are refused: they do not know the record format.
"""

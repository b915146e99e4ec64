"""The faces of the clients: blocking ones for scripts, and ones for programs that live on a Twisted reactor. Both stand on the pure cores of `client/`.

Idea: the core runs on one thread and never waits. A blocking client's core runs on a reactor of its own (made, never installed) in one daemon thread that all
blocking clients of the process share; the user's thread hands over calls and waits for their promises. A Twisted client's core runs on the reactor that it is
given, and its methods give Deferreds. Users import them from `pykafka_classic.clients`.

Reading order: client_thread, seams, producer, consumer; then twisted_producer, twisted_consumer.

Mirrors: nothing of Kafka's; its Java clients have a thread for each producer, and one for the heartbeats of each consumer.

Differs from Kafka: a consumer goes on fetching, and sending heartbeats, between two calls of `poll`. A process that forks has no clients in the child; it may
make new ones there.
"""

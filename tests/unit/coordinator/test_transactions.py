"""The transaction coordinator: what producers are answered, what is written, who gets markers. The rules: facts/coordination.md 6."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import spawn
from pykafka_classic.coordinator.transaction.transaction_coordinator import Producer
from pykafka_classic.coordinator.transaction.transaction_metadata import VALID_PREVIOUS, TransactionState
from tests.unit.coordinator.transaction_world import A0, A1, B0, ID, TIMEOUT_MS, TransactionWorld

NONE = ErrorCode.NONE
FENCED = ErrorCode.PRODUCER_FENCED
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.fixture
def world() -> TransactionWorld:
    return TransactionWorld()


class TestInitProducerId:
    def test_each_producer_of_an_id_has_a_higher_epoch(self, world: TransactionWorld) -> None:
        assert [world.producer() for _ in range(3)] == [(1000, 0), (1000, 1), (1000, 2)]
        assert world.states == ["EMPTY"] * 3

    def test_another_id_has_another_producer_id(self, world: TransactionWorld) -> None:
        assert world.initialize().producer.id != world.initialize(transactional_id="other").producer.id

    @pytest.mark.parametrize(
        ("transactional_id", "timeout_ms", "error"),
        [
            ("", 1, ErrorCode.INVALID_REQUEST),
            (ID, 0, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
            (ID, -1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
            (ID, 900_001, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ],
    )
    def test_what_is_wrong_is_refused(self, world: TransactionWorld, transactional_id: str, timeout_ms: int, error: ErrorCode) -> None:
        assert world.initialize(timeout_ms=timeout_ms, transactional_id=transactional_id) == (error, (-1, -1))
        assert world.rows() == []

    def test_the_longest_timeout_is_allowed(self, world: TransactionWorld) -> None:
        assert world.initialize(timeout_ms=900_000).error is NONE

    def test_an_open_transaction_is_aborted_first_and_its_producer_fenced(self, world: TransactionWorld) -> None:
        old = world.producer()
        world.add(old, A0)
        assert world.initialize().error is CONCURRENT
        world.clock.advance(1)
        assert world.brokers.markers == [(1, A0, False, 1, 7)]  # by the epoch that nobody has
        assert world.initialize() == (NONE, (1000, 2))
        assert world.states == ["EMPTY", "ONGOING", "PREPARE_ABORT", "COMPLETE_ABORT", "EMPTY"]
        assert (world.add(old, A0), world.end(old)) == (FENCED, FENCED)

    def test_while_markers_are_on_their_way_the_next_producer_waits(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.brokers.held = []
        assert world.end(producer) is NONE
        world.clock.advance(1)
        assert world.initialize().error is CONCURRENT
        world.brokers.release()
        assert world.initialize() == (NONE, (1000, 1))

    def test_a_fence_that_could_not_be_stored_raises_the_epoch_once(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.topic.error = ErrorCode.NOT_ENOUGH_REPLICAS
        assert [world.initialize().error for _ in range(3)] == [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 3
        world.topic.error = NONE
        assert world.initialize().error is CONCURRENT
        world.clock.advance(1)
        assert world.initialize() == (NONE, (1000, 2))

    def test_an_exhausted_epoch_gives_a_new_producer_id(self, world: TransactionWorld) -> None:
        world.producer()
        transaction = world.service.store.term(ID).transactions[ID]
        transaction.complete(transaction.prepare_new_producer_id(1000, TIMEOUT_MS, 0, keep_last_epoch=False))
        for _ in range(32766):
            transaction.complete(transaction.prepare_new_epoch(TIMEOUT_MS, None, 0))
        assert transaction.row.producer_epoch == 32766
        assert world.initialize(Producer(1000, 32766)) == (NONE, (1001, 0))
        assert world.initialize(Producer(1000, 32766)) == (NONE, (1001, 0))  # its answer was lost
        assert world.initialize(Producer(1000, 32765)).error is FENCED


class TestProducersThatSayWhoTheyWere:
    """KIP-360."""

    def test_the_present_one_gets_the_next_epoch_and_again_when_its_answer_was_lost(self, world: TransactionWorld) -> None:
        producer = world.producer()
        assert world.initialize(producer) == (NONE, (1000, 1))
        assert world.initialize(producer) == (NONE, (1000, 1))

    def test_one_before_that_is_fenced(self, world: TransactionWorld) -> None:
        producer = world.producer()
        second = world.initialize(producer).producer
        world.initialize(second)
        assert world.initialize(producer) == (FENCED, (-1, -1))

    def test_a_producer_of_another_id_is_fenced(self, world: TransactionWorld) -> None:
        producer = world.producer()
        assert world.initialize(Producer(producer.id + 1, 0)).error is FENCED

    def test_after_a_new_start_of_the_producer_nothing_is_owed_to_the_one_before(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.producer()
        assert world.initialize(producer).error is FENCED

    def test_an_id_that_the_coordinator_does_not_know_takes_any(self, world: TransactionWorld) -> None:
        assert world.initialize(Producer(5, 3)).error is NONE


class TestTransactions:
    def test_a_commit_reaches_every_partition_and_is_written_down(self, world: TransactionWorld) -> None:
        producer = world.producer()
        assert (world.add(producer, A0, A1), world.add(producer, B0)) == (NONE, NONE)
        assert world.end(producer) is NONE
        world.clock.advance(1)
        assert sorted(world.brokers.markers) == [(1, A0, True, 0, 7), (1, B0, True, 0, 7), (2, A1, True, 0, 7)]
        assert world.brokers.requests == 2  # one for each broker
        assert world.states == ["EMPTY", "ONGOING", "ONGOING", "PREPARE_COMMIT", "COMPLETE_COMMIT"]
        rows = [row for row in world.rows() if row is not None]
        assert [row.partitions for row in rows] == [set(), {A0, A1}, {A0, A1, B0}, {A0, A1, B0}, set()]

    def test_the_next_transaction_begins_anew(self, world: TransactionWorld) -> None:
        producer = world.producer()
        for commit in (True, False, True):
            world.clock.advance(10)
            assert (world.add(producer, A0), world.end(producer, commit=commit)) == (NONE, NONE)
            world.clock.advance(1)
        assert [marker[2] for marker in world.brokers.markers] == [True, False, True]
        starts = [row.start_ms for row in world.rows() if row is not None and row.state is TransactionState.ONGOING]
        assert len(set(starts)) == 3

    def test_partitions_that_are_in_it_already_are_not_written_again(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0, A1)
        assert world.add(producer, A1) is NONE
        assert world.states == ["EMPTY", "ONGOING"]

    @pytest.mark.parametrize("commit", [True, False])
    def test_ended_so_already(self, world: TransactionWorld, commit: bool) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.brokers.held = []
        world.end(producer, commit=commit)
        world.clock.advance(1)
        assert (world.end(producer, commit=commit), world.add(producer, A0)) == (CONCURRENT, CONCURRENT)
        world.brokers.release()
        assert world.end(producer, commit=commit) is NONE
        assert world.end(producer, commit=not commit) is ErrorCode.INVALID_TXN_STATE

    def test_nothing_begun_nothing_ended(self, world: TransactionWorld) -> None:
        assert world.end(world.producer()) is ErrorCode.INVALID_TXN_STATE

    def test_who_is_not_the_producer_is_told_so(self, world: TransactionWorld) -> None:
        producer = world.producer()
        unknown = ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert world.add(Producer(producer.id + 1, 0), A0) is unknown
        assert world.add(producer, A0, transactional_id="other") is unknown
        assert world.end(producer, transactional_id="other") is unknown
        assert world.add(Producer(producer.id, 1), A0) is FENCED
        assert world.add(producer, A0, transactional_id="") is ErrorCode.INVALID_REQUEST
        assert world.rows()[1:] == []

    def test_one_step_at_a_time(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.topic.hold = True
        adding = spawn(world.service.coordinator.add_partitions(ID, producer, frozenset({A0})))
        assert (world.add(producer, A1), world.end(producer), world.initialize().error) == (CONCURRENT,) * 3
        world.topic.release()
        assert adding.result() is NONE
        world.topic.hold = False
        assert world.add(producer, A1) is NONE

    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
            (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.COORDINATOR_NOT_AVAILABLE),
            (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
            (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
            (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        ],
    )
    def test_a_step_that_is_not_stored_has_not_been_made(self, world: TransactionWorld, error: ErrorCode, told: ErrorCode) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.topic.error = error
        assert (world.add(producer, A1), world.end(producer), world.initialize().error) == (told,) * 3
        world.topic.error = NONE
        assert world.brokers.markers == []


class TestMarkers:
    def committed(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0, A1)
        assert world.end(producer) is NONE
        world.clock.advance(1)

    @pytest.mark.parametrize("error", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
    def test_what_may_pass_is_tried_again_at_whoever_leads_then(self, world: TransactionWorld, error: ErrorCode) -> None:
        world.brokers.errors = {A0: [error, error]}
        self.committed(world)
        assert world.states[-1] == "PREPARE_COMMIT"
        world.brokers.leaders[A0] = 2
        world.clock.advance(200)
        assert world.brokers.markers == [(2, A1, True, 0, 7), (2, A0, True, 0, 7)]
        assert world.states[-1] == "COMPLETE_COMMIT"

    def test_a_broker_that_is_down_and_a_partition_without_leader_are_waited_for(self, world: TransactionWorld) -> None:
        world.brokers.down = {1}
        world.brokers.leaders[A1] = None
        self.committed(world)
        world.clock.advance(60_000)
        assert world.states[-1] == "PREPARE_COMMIT"
        world.brokers.down, world.brokers.leaders[A1] = set(), 3
        world.clock.advance(200)
        assert sorted(world.brokers.markers) == [(1, A0, True, 0, 7), (3, A1, True, 0, 7)]
        assert world.states[-1] == "COMPLETE_COMMIT"

    def test_a_partition_that_is_gone_needs_none(self, world: TransactionWorld) -> None:
        world.brokers.errors = {A0: [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]}
        self.committed(world)
        del world.brokers.leaders[A0]
        world.clock.advance(200)
        assert world.states[-1] == "COMPLETE_COMMIT"

    @pytest.mark.parametrize("error", [ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.UNSUPPORTED_VERSION])
    def test_a_partition_that_cannot_hold_one_is_passed_over(self, world: TransactionWorld, error: ErrorCode) -> None:
        world.brokers.errors = {A0: [error]}
        self.committed(world)
        assert world.states[-1] == "COMPLETE_COMMIT"

    @pytest.mark.parametrize("error", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED])
    def test_a_newer_coordinator_has_taken_over(self, world: TransactionWorld, error: ErrorCode) -> None:
        world.brokers.errors = {A0: [error]}
        self.committed(world)
        world.clock.advance(60_000)
        assert world.states[-1] == "PREPARE_COMMIT"

    def test_the_last_row_is_written_again_until_there_are_enough_replicas(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.brokers.held = []
        world.end(producer)
        world.clock.advance(1)
        world.topic.error = ErrorCode.NOT_ENOUGH_REPLICAS
        world.brokers.release()
        world.clock.advance(1000)
        assert (world.states[-1], world.initialize().error) == ("PREPARE_COMMIT", CONCURRENT)
        world.topic.error = NONE
        world.clock.advance(1000)
        assert (world.states[-1], world.initialize().error) == ("COMPLETE_COMMIT", NONE)

    def test_markers_of_many_transactions_go_together(self, world: TransactionWorld) -> None:
        names = [f"writer-{number}" for number in range(20)]
        producers = [world.initialize(transactional_id=name).producer for name in names]
        for name, producer in zip(names, producers, strict=True):
            world.add(producer, A0, transactional_id=name)
            world.end(producer, transactional_id=name)
        world.clock.advance(1)
        assert (len(world.brokers.markers), world.brokers.requests) == (20, 1)


class TestTakingOver:
    @pytest.mark.parametrize("commit", [True, False])
    def test_what_was_decided_is_told_by_the_next_coordinator(self, world: TransactionWorld, commit: bool) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.brokers.down = {1}
        world.end(producer, commit=commit)
        world.clock.advance(1)
        after = world.successor()
        world.service.loader.on_resignation(0, 8)
        world.brokers.down = set()
        world.clock.advance(1000)
        assert world.brokers.markers == [(1, A0, commit, 0, 8)]
        assert after.states[-1] == ("COMPLETE_COMMIT" if commit else "COMPLETE_ABORT")
        assert after.end(producer, commit=commit) is NONE

    def test_an_open_transaction_goes_on_there(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0)
        after = world.successor()
        assert (after.add(producer, A1), after.end(producer)) == (NONE, NONE)
        after.clock.advance(1)
        assert {marker[1] for marker in world.brokers.markers} == {A0, A1}

    def test_who_lost_the_partition_says_so_and_what_it_was_writing_counts_not(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.topic.hold = True
        adding = spawn(world.service.coordinator.add_partitions(ID, producer, frozenset({A0})))
        world.service.loader.on_resignation(0, 8)
        world.topic.release()
        world.topic.hold = False
        gone = ErrorCode.NOT_COORDINATOR
        assert adding.result() is gone
        assert (world.add(producer, A0), world.end(producer), world.initialize().error) == (gone,) * 3

    def test_while_it_loads_it_says_so(self, world: TransactionWorld) -> None:
        world.producer()
        world.service.loader.on_election(0, 9)
        assert world.initialize().error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        world.clock.advance(0)
        assert world.initialize() == (NONE, (1000, 1))

    def test_after_the_end_nobody_answers(self, world: TransactionWorld) -> None:
        world.service.shutdown()
        assert world.initialize().error is ErrorCode.COORDINATOR_NOT_AVAILABLE


class TestTime:
    def test_a_transaction_that_nobody_ends_is_aborted(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.clock.advance(TIMEOUT_MS)
        assert world.brokers.markers == []
        world.clock.advance(10_001)  # the next look
        assert world.brokers.markers == [(1, A0, False, 1, 7)]
        assert world.end(producer) is FENCED
        assert world.initialize() == (NONE, (1000, 2))

    def test_an_id_that_nobody_uses_is_forgotten(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.clock.advance(world.config.transactional_id_expiration_ms - 3_600_000)
        assert world.states == ["EMPTY"]
        world.clock.advance(2 * 3_600_000)
        assert world.states == ["EMPTY", "-"]
        assert world.add(producer, A0) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert world.successor().initialize().producer == (1000, 0)  # the first id of that broker

    @pytest.mark.parametrize("ended", [False, True])
    def test_one_in_use_is_not(self, world: TransactionWorld, ended: bool) -> None:
        producer = world.producer()
        world.add(producer, A0)
        world.brokers.down = {1}
        if ended:
            world.end(producer)
        world.clock.advance(1)
        world.service.store.forget_unused(expiration_ms=0, timeout_ms=1)
        assert world.states[-1] == ("PREPARE_COMMIT" if ended else "ONGOING")

    def test_a_tombstone_that_was_not_written_forgets_nothing(self, world: TransactionWorld) -> None:
        producer = world.producer()
        world.topic.error = ErrorCode.NOT_ENOUGH_REPLICAS
        world.clock.advance(world.config.transactional_id_expiration_ms + 3_600_000)
        world.topic.error = NONE
        assert world.add(producer, A0) is NONE


def test_every_state_can_be_reached() -> None:
    """The table as facts/coordination.md 6.1 draws it, read from its other end."""
    following = {state: {to for to, before in VALID_PREVIOUS.items() if state in before} for state in TransactionState}
    names = {state.name: {each.name for each in to} for state, to in following.items()}
    assert names["ONGOING"] == {"ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"}
    assert (names["PREPARE_COMMIT"], names["PREPARE_ABORT"], names["DEAD"]) == ({"COMPLETE_COMMIT"}, {"COMPLETE_ABORT"}, set())
    assert names["PREPARE_EPOCH_FENCE"] == {"PREPARE_ABORT"}


def test_brokers_are_asked_one_request_at_a_time(world: TransactionWorld) -> None:
    world.brokers.held = []
    for name in ("one", "two"):
        producer = world.initialize(transactional_id=name).producer
        world.add(producer, A0, transactional_id=name)
        world.end(producer, transactional_id=name)
        world.clock.advance(1)
    assert world.brokers.requests == 1
    world.brokers.release()
    world.clock.advance(1)
    assert (world.brokers.requests, len(world.brokers.markers)) == (2, 2)

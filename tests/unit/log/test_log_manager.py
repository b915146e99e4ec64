"""Several log directories: placement, recovery points, directories that fail, clean and unclean stops."""

from __future__ import annotations

import errno
from uuid import UUID

import pytest

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log_directory import LogDirectory, LogDirectoryError
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams
from pykafka_classic.log.meta_properties import MetaProperties
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.fakes.file_system import FakeFileSystem
from tests.unit.log.helpers import NOW_MS, batch, fill, offsets_of, read_all

DIRS = ["/a", "/b"]


class Broker:
    """A disk, and the log managers that live on it one after the other."""

    def __init__(self, log_dirs: list[str] | None = None, **properties: object) -> None:
        self.file_system = FakeFileSystem()
        self.clock = FakeClock(NOW_MS)
        self.background = FakeBackground()
        self.log_dirs = log_dirs or DIRS
        self.properties = {"zookeeper.connect": "none", "log.segment.bytes": "1000", "log.index.interval.bytes": "200"}
        self.properties |= {key.replace("_", "."): str(value) for key, value in properties.items()}

    def manager(self, overrides: dict[str, dict[str, str]] | None = None) -> LogManager:
        """One that has not loaded yet."""
        seams = LogSeams(self.file_system, self.clock, self.background, SeededRandom())
        return LogManager(self.log_dirs, seams, KafkaConfig.from_properties(self.properties), overrides)

    def start(self, overrides: dict[str, dict[str, str]] | None = None) -> LogManager:
        """One that has loaded and tends its logs."""
        manager = self.manager(overrides)
        manager.load().result()
        manager.start()
        return manager

    def stop(self, manager: LogManager) -> None:
        """A clean stop."""
        manager.shutdown().result()
        self.file_system.kill()


@pytest.fixture
def broker() -> Broker:
    return Broker()


def flights(partition: int) -> TopicPartition:
    return TopicPartition("flights", partition)


def code_of(call: object) -> int:
    with pytest.raises(KafkaError) as caught:
        call()  # type: ignore[operator]
    return int(caught.value.code)


def test_log_dirs_are_made_and_locked(broker: Broker) -> None:
    broker.start()
    assert broker.file_system.list("/a") == [".lock"]
    promise = broker.manager().load()
    assert isinstance(promise.error(), LogDirectoryError)


def test_partitions_go_where_the_fewest_are(broker: Broker) -> None:
    manager = broker.start()
    dirs = [manager.get_or_create_log(flights(partition)).parent_dir for partition in range(5)]
    assert dirs == ["/a", "/b", "/a", "/b", "/a"]


def test_a_preferred_log_dir_is_taken_for_the_next_creation(broker: Broker) -> None:
    manager = broker.start()
    manager.prefer_log_dir(flights(0), "/b")
    assert manager.get_or_create_log(flights(0)).parent_dir == "/b"


def test_an_existing_log_is_not_made_again(broker: Broker) -> None:
    manager = broker.start()
    assert manager.get_or_create_log(flights(0)) is manager.get_or_create_log(flights(0))


def test_a_new_log_gets_its_topic_id(broker: Broker) -> None:
    manager = broker.start()
    topic_id = UUID(int=5)
    assert manager.get_or_create_log(flights(0), topic_id=topic_id).topic_id == topic_id
    broker.stop(manager)
    log = broker.start().get_log(flights(0))
    assert log is not None and log.topic_id == topic_id


def test_before_2_8_no_topic_id_is_kept() -> None:
    broker = Broker(inter_broker_protocol_version="2.7")
    log = broker.start().get_or_create_log(flights(0), topic_id=UUID(int=5))
    assert log.topic_id is None
    assert "partition.metadata" not in broker.file_system.list(log.directory)


def test_after_a_clean_stop_everything_is_there_again(broker: Broker) -> None:
    manager = broker.start()
    for partition in range(5):
        fill(manager.get_or_create_log(flights(partition)), 7 + partition, leader_epoch=3)
    broker.stop(manager)
    assert broker.file_system.exists("/a/.kafka_cleanshutdown")
    again = broker.start()
    assert not broker.file_system.exists("/a/.kafka_cleanshutdown")
    for partition in range(5):
        log = again.get_log(flights(partition))
        assert log is not None
        assert offsets_of(read_all(log)) == list(range(7 + partition))
        assert log.high_watermark == log.recovery_point == 7 + partition


def test_after_a_kill_logs_are_recovered_and_high_watermarks_are_those_of_the_checkpoint(broker: Broker) -> None:
    manager = broker.start()
    log = manager.get_or_create_log(flights(0))
    fill(log, 5)
    manager.checkpoint_high_watermarks().result()
    fill(log, 5)
    broker.file_system.kill()
    again = broker.start().get_log(flights(0))
    assert again is not None
    assert (again.log_end_offset, again.high_watermark) == (10, 5)


def test_after_a_loss_of_power_what_was_flushed_is_there(broker: Broker) -> None:
    manager = broker.start()
    log = manager.get_or_create_log(flights(0))
    fill(log, 10, leader_epoch=1)
    log.flush()
    broker.file_system.crash()
    again = broker.start().get_log(flights(0))
    assert again is not None
    assert offsets_of(read_all(again)) == list(range(10))
    assert again.leader_epoch_cache.entries == [(1, 0)]


def test_recovery_points_are_written_after_30_seconds_and_then_every_minute(broker: Broker) -> None:
    manager = broker.start()
    log = manager.get_or_create_log(flights(0))
    fill(log, 3)
    log.flush()
    assert not broker.file_system.exists("/a/recovery-point-offset-checkpoint")
    broker.clock.advance(30_000)
    assert broker.file_system.read("/a/recovery-point-offset-checkpoint") == b"0\n1\nflights 0 3\n"
    fill(log, 3)
    log.flush()
    broker.clock.advance(60_000)
    assert broker.file_system.read("/a/recovery-point-offset-checkpoint") == b"0\n1\nflights 0 6\n"


def test_a_truncation_lowers_the_recovery_point_on_disk_at_once(broker: Broker) -> None:
    manager = broker.start()
    log = manager.get_or_create_log(flights(0))
    fill(log, 8)
    log.flush()
    manager.checkpoint_recovery_points().result()
    log.truncate_to(3)
    broker.clock.advance(0)
    assert broker.file_system.read("/a/recovery-point-offset-checkpoint") == b"0\n1\nflights 0 3\n"


def test_a_log_start_that_the_first_segment_does_not_tell_survives_a_restart(broker: Broker) -> None:
    manager = broker.start()
    log = manager.get_or_create_log(flights(0))
    fill(log, 12)
    log.maybe_increment_log_start_offset(7)
    broker.stop(manager)
    assert broker.file_system.read("/a/log-start-offset-checkpoint") == b"0\n1\nflights 0 7\n"
    again = broker.start().get_log(flights(0))
    assert again is not None and again.log_start_offset == 7


def test_without_recovery_points_everything_is_recovered(broker: Broker) -> None:
    fill(broker.start().get_or_create_log(flights(0)), 3)
    broker.file_system.kill()
    broker.file_system.write_atomically("/a/recovery-point-offset-checkpoint", b"rubbish")
    log = broker.start().get_log(flights(0))
    assert log is not None and log.log_end_offset == 3


@pytest.mark.parametrize("name", ["log-start-offset-checkpoint", "replication-offset-checkpoint"])
def test_a_checkpoint_that_nothing_can_replace_takes_its_log_dir_offline_as_it_is(broker: Broker, name: str) -> None:
    manager = broker.start()
    for partition in range(2):
        fill(manager.get_or_create_log(flights(partition)), 3)
    broker.stop(manager)
    good = broker.file_system.read(f"/a/{name}")
    broker.file_system.write_atomically(
        f"/a/{name}", b"0\n3\nflights 0 2\n"
    )  # Kafka: "Expected 3 entries in checkpoint file, but found only 1", the log dir offline
    again = broker.start()
    assert (again.offline_log_dirs, [str(log.topic_partition) for log in again.all_logs()]) == (["/a"], ["flights-1"])
    broker.stop(again)
    broker.file_system.write_atomically(f"/a/{name}", good)
    assert [one.recovery_point for one in broker.start().all_logs()] == [3, 3], "the stop before counts as clean: nothing was touched since"


def test_a_crash_while_loading_is_no_clean_stop(broker: Broker) -> None:
    manager = broker.start()
    fill(manager.get_or_create_log(flights(0)), 3)
    broker.stop(manager)
    assert broker.file_system.exists("/a/.kafka_cleanshutdown")
    assert LogDirectory(broker.file_system, "/a").open().clean
    assert not broker.file_system.exists("/a/.kafka_cleanshutdown")
    broker.file_system.kill()
    assert not LogDirectory(broker.file_system, "/a").open().clean


def test_a_deleted_log_is_renamed_at_once_and_removed_later(broker: Broker) -> None:
    manager = broker.start()
    fill(manager.get_or_create_log(flights(0)), 3)
    removed = manager.async_delete(flights(0))
    assert removed is not None and removed.directory.endswith("-delete")
    assert manager.get_log(flights(0)) is None
    assert not broker.file_system.exists("/a/flights-0")
    broker.clock.advance(60_000)
    assert not broker.file_system.exists(removed.directory)


def test_a_log_deleted_before_a_crash_is_removed_after_it(broker: Broker) -> None:
    manager = broker.start()
    fill(manager.get_or_create_log(flights(0)), 3)
    removed = manager.async_delete(flights(0))
    assert removed is not None
    broker.file_system.kill()
    again = broker.start()
    assert again.get_log(flights(0)) is None
    broker.clock.advance(60_000)
    assert not broker.file_system.exists(removed.directory)


def test_a_deleted_topic_can_be_made_again_at_once(broker: Broker) -> None:
    manager = broker.start()
    fill(manager.get_or_create_log(flights(0)), 3)
    manager.async_delete(flights(0))
    assert manager.get_or_create_log(flights(0)).log_end_offset == 0


def test_deleting_what_is_not_there_does_nothing(broker: Broker) -> None:
    assert broker.start().async_delete(flights(0)) is None


def test_a_directory_that_is_no_log_stops_the_start(broker: Broker) -> None:
    broker.file_system.make_directory("/a/lost+found")
    assert isinstance(broker.manager().load().error(), LogDirectoryError)


def test_a_replica_that_kafka_3_set_aside_stops_the_start_as_it_stops_kafka_2_8_and_it_is_told_what_to_do(broker: Broker) -> None:
    """Asked of both: 2.8.2 dies over such a directory ("is not in the form of topic-partition"), 3.9.1 loads it and leaves it alone."""
    broker.file_system.make_directory(f"/a/flights-0.{'0123456789abcdef' * 2}-stray")
    with pytest.raises(LogDirectoryError, match=r"is not in the form of topic-partition .* set aside by Kafka 3: move it"):
        broker.manager().load().result()


def test_a_failing_disk_takes_its_log_dir_offline_and_the_others_go_on(broker: Broker) -> None:
    manager = broker.start()
    logs = [manager.get_or_create_log(flights(partition)) for partition in range(2)]
    told: list[str] = []
    manager.add_failure_listener(told.append)
    broker.file_system.fail("/a")
    assert code_of(lambda: logs[0].append_as_leader(batch(), leader_epoch=0)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert told == []
    broker.clock.advance(0)
    assert (told, manager.offline_log_dirs, manager.online_log_dirs) == (["/a"], ["/a"], ["/b"])
    assert manager.get_log(flights(0)) is None
    assert logs[1].append_as_leader(batch(), leader_epoch=0).first_offset == 0


def test_a_file_that_cannot_be_read_when_an_answer_is_sent_takes_its_log_dir_offline(broker: Broker) -> None:
    manager = broker.start()
    one = manager.get_or_create_log(flights(0))
    one.append_as_leader(batch(), leader_epoch=0)
    fetched = one.read(0, max_length=1_000, max_offset=1, min_one_message=True).records
    assert fetched is not None
    fetched.file.unreadable(OSError(errno.EIO, "Input/output error"))
    assert manager.offline_log_dirs == [one.parent_dir]


def test_with_a_log_dir_offline_only_new_partitions_are_made(broker: Broker) -> None:
    broker.file_system.fail("/a")
    manager = broker.start()
    assert manager.offline_log_dirs == ["/a"]
    assert code_of(lambda: manager.get_or_create_log(flights(0), is_new=False)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert manager.get_or_create_log(flights(0), is_new=True).parent_dir == "/b"
    assert code_of(lambda: manager.async_delete(flights(7))) == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_broker_without_any_working_log_dir_does_not_start(broker: Broker) -> None:
    broker.file_system.fail("/a", "/b")
    assert isinstance(broker.manager().load().error(), KafkaError)


def test_a_disk_that_fails_while_loading_takes_its_log_dir_offline(broker: Broker) -> None:
    manager = broker.start()
    for partition in range(2):
        fill(manager.get_or_create_log(flights(partition)), 3)
    broker.stop(manager)
    broker.file_system.fail("/a/flights-0")
    again = broker.start()
    assert (again.offline_log_dirs, [str(log.topic_partition) for log in again.all_logs()]) == (["/a"], ["flights-1"])


def test_no_marker_is_left_in_a_failed_log_dir(broker: Broker) -> None:
    manager = broker.start()
    for partition in range(2):
        fill(manager.get_or_create_log(flights(partition)), 3)
    broker.file_system.fail("/a")
    broker.stop(manager)
    broker.file_system.fail()
    assert [broker.file_system.exists(f"{path}/.kafka_cleanshutdown") for path in DIRS] == [False, True]


def test_topic_overrides_hold_for_existing_and_for_new_logs(broker: Broker) -> None:
    manager = broker.start({"flights": {"retention.ms": "5"}})
    existing = manager.get_or_create_log(flights(0))
    assert existing.config.retention_ms == 5
    manager.update_topic_config("flights", {"retention.ms": "7"})
    assert (existing.config.retention_ms, manager.get_or_create_log(flights(1)).config.retention_ms) == (7, 7)
    assert manager.get_or_create_log(TopicPartition("other", 0)).config.retention_ms == 604_800_000


def test_retention_comes_first_after_30_seconds(broker: Broker) -> None:
    broker = Broker(log_retention_ms=1000)
    log = broker.start().get_or_create_log(flights(0))
    fill(log, 12, timestamp=NOW_MS - 5000)
    broker.clock.advance(29_999)
    assert log.log_start_offset == 0
    broker.clock.advance(1)
    assert log.log_start_offset == 12


def test_old_unsynced_records_are_flushed() -> None:
    broker = Broker(log_flush_interval_ms=1000, log_flush_scheduler_interval_ms=500)
    log = broker.start().get_or_create_log(flights(0))
    fill(log, 2)
    broker.clock.advance(29_000)
    assert log.recovery_point == 0
    broker.clock.advance(1000)
    assert log.recovery_point == 2


def test_idle_producers_are_forgotten() -> None:
    broker = Broker(transactional_id_expiration_ms=1000)
    log = broker.start().get_or_create_log(flights(0))
    log.append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    broker.clock.advance(600_000)
    assert not log.producers.producers


def test_compacted_logs_are_cleaned(broker: Broker) -> None:
    log = broker.start({"flights": {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.1"}}).get_or_create_log(flights(0))
    fill(log, 30)
    size = log.size
    broker.clock.advance(15_000)
    assert log.size < size
    assert log.log_end_offset == 30


def test_meta_properties_are_written_to_every_log_dir(broker: Broker) -> None:
    manager = broker.start()
    manager.write_meta_properties(MetaProperties(3, "cluster"))
    assert [manager.read_meta_properties(path) for path in DIRS] == [MetaProperties(3, "cluster")] * 2


def test_nothing_runs_after_a_stop(broker: Broker) -> None:
    manager = broker.start()
    manager.get_or_create_log(flights(0))
    broker.stop(manager)
    before = broker.file_system.files_under("/")
    broker.clock.advance(3_600_000)
    assert broker.file_system.files_under("/") == before


# Replicas that move between log dirs


def moving(broker: Broker) -> LogManager:
    manager = broker.start()
    fill(manager.get_or_create_log(flights(0)), 5)
    manager.prefer_log_dir(flights(0), "/b")
    manager.get_or_create_log(flights(0), future=True)
    return manager


def test_a_future_log_lies_in_the_preferred_dir_under_a_name_of_its_own(broker: Broker) -> None:
    future = moving(broker).get_log(flights(0), future=True)
    assert future is not None and future.is_future
    assert future.directory.startswith("/b/flights-0.") and future.directory.endswith("-future")


def test_a_future_log_is_found_after_a_restart(broker: Broker) -> None:
    manager = moving(broker)
    broker.stop(manager)
    again = broker.start()
    assert again.get_log(flights(0), future=True) is not None
    assert again.get_log(flights(0)) is not None


def test_a_future_log_that_caught_up_becomes_the_current_one(broker: Broker) -> None:
    manager = moving(broker)
    current, future = manager.get_log(flights(0)), manager.get_log(flights(0), future=True)
    assert current is not None and future is not None
    future.append_as_follower(read_all(current))
    assert manager.replace_current_with_future(flights(0)) is future
    assert manager.get_log(flights(0)) is future
    assert manager.get_log(flights(0), future=True) is None
    assert (future.directory, future.high_watermark, offsets_of(read_all(future))) == ("/b/flights-0", 5, [0, 1, 2, 3, 4])
    broker.clock.advance(60_000)
    assert not [name for name in broker.file_system.list("/a") if "flights" in name]


def test_without_a_future_log_nothing_is_replaced(broker: Broker) -> None:
    manager = broker.start()
    manager.get_or_create_log(flights(0))
    assert code_of(lambda: manager.replace_current_with_future(flights(0))) == ErrorCode.KAFKA_STORAGE_ERROR


def test_two_logs_of_one_partition_stop_the_start(broker: Broker) -> None:
    for path in DIRS:
        broker.file_system.make_directory(f"{path}/flights-0")
    assert isinstance(broker.manager().load().error(), ValueError)


# What the log says about a start


def started(broker: Broker, caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of a start that tell how far the loading is."""
    caplog.clear()
    with caplog.at_level("INFO", "kafka.log.LogManager"):
        broker.start()
    return [message for message in caplog.messages if message.startswith(("Completed load", "Loaded"))]


def test_after_a_kill_each_log_dir_tells_how_far_its_recovery_is_and_what_was_cut(caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker(["/a"], num_recovery_threads_per_data_dir=2)
    manager = broker.start()
    for partition in range(3):
        fill(manager.get_or_create_log(flights(partition)), 7)
    broker.file_system.kill()
    broker.file_system.open("/a/flights-1/00000000000000000005.log").append([b"torn"])
    size = sum(len(data) for name, data in broker.file_system.files_under("/a").items() if name.endswith(".log"))
    *each, directory, _ = started(broker, caplog)
    assert [line.rpartition(" in ")[0].rpartition("(")[2] for line in each] == ["1/3 loaded", "2/3 loaded", "3/3 loaded"]
    assert directory == f"Loaded 3 logs (recovered 6 segments with {size / 1_000_000:.1f} MB, cut off 4 bytes) in /a in 0ms with 2 threads"


def test_after_a_clean_stop_nothing_is_recovered(caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker(["/a"])
    manager = broker.start()
    fill(manager.get_or_create_log(flights(0)), 7)
    broker.stop(manager)
    assert "Loaded 1 logs in /a in 0ms with 1 threads" in started(broker, caplog)


@pytest.mark.parametrize("threads", [1, 3])
def test_recovery_runs_in_as_many_jobs_as_it_may(threads: int) -> None:
    broker = Broker(["/a"], num_recovery_threads_per_data_dir=threads)
    manager = broker.start()
    for partition in range(5):
        fill(manager.get_or_create_log(flights(partition)), 3)
    broker.file_system.kill()
    broker.background.queued = True
    loading = broker.manager().load()
    broker.background.run_next()  # opens the log dir
    at_the_same_time = []
    while not loading.settled:
        at_the_same_time.append(broker.background.pending)
        broker.background.run_next()
    assert at_the_same_time == [min(threads, 5 - number) for number in range(5)]


# Disks that fail


@pytest.mark.parametrize("checkpoint", ["checkpoint_recovery_points", "checkpoint_log_start_offsets", "checkpoint_high_watermarks"])
def test_a_checkpoint_that_cannot_be_written_takes_its_log_dir_offline(broker: Broker, checkpoint: str) -> None:
    manager = broker.start()
    kept, lost = manager.get_or_create_log(flights(1)), manager.get_or_create_log(flights(0))
    failed: list[str] = []
    manager.add_failure_listener(failed.append)
    broker.file_system.fail(lost.parent_dir)
    getattr(manager, checkpoint)()
    broker.clock.advance()
    assert failed == [lost.parent_dir]
    assert manager.get_log(flights(0)) is None
    assert manager.get_log(flights(1)) is kept


def test_a_log_dir_that_vanishes_goes_offline_with_its_next_checkpoint(broker: Broker) -> None:
    manager = broker.start()
    lost = manager.get_or_create_log(flights(0)).parent_dir
    broker.file_system.rename(lost, "/elsewhere")
    manager.checkpoint_high_watermarks()
    assert manager.offline_log_dirs == [lost]


def test_leader_epochs_that_cannot_be_written_take_their_log_dir_offline(broker: Broker) -> None:
    manager = broker.start()
    log = manager.get_or_create_log(flights(0))
    broker.file_system.fail(log.parent_dir)
    log.leader_epoch_cache.assign(5, 0)
    assert manager.offline_log_dirs == [log.parent_dir]


def test_a_disk_that_fails_during_a_clean_stop_gets_no_marker_and_the_others_do(broker: Broker) -> None:
    manager = broker.start()
    for partition in range(2):
        fill(manager.get_or_create_log(flights(partition)), 3)
    broker.file_system.fail("/a/.kafka_cleanshutdown")
    broker.stop(manager)
    broker.file_system.fail()
    assert broker.file_system.exists("/b/.kafka_cleanshutdown")
    assert not broker.file_system.exists("/a/.kafka_cleanshutdown")


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_compacted_logs_are_not_for_retention_by_time(enabled: str) -> None:
    broker = Broker(["/a"], log_cleaner_enable=enabled, log_cleaner_backoff_ms=10**9)
    manager = broker.start({"flights": {"cleanup.policy": "compact,delete", "retention.ms": "1000"}})
    fill(manager.get_or_create_log(flights(0)), 12, timestamp=NOW_MS - 10**7)
    assert manager.apply_retention() == 0

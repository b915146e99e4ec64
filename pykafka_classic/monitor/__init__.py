"""The monitor: it sees what happens in clusters of the ZooKeeper era, remembers it, and says why.

The idea: ZooKeeper tells everything that decides (who lives, who leads, who is in sync), so the monitor watches all of its nodes and keeps every change in
an SQLite file of its own; what only brokers know it asks of them in intervals. Everything shown is read out of that file: the state at any past second, a
timeline in order of cause, and answers to "why".

Reading order: znodes and mirror (what changes in ZooKeeper), collector/ (what is seen), store/ (what is remembered), service (`Monitor`: both together), then
what people read: sentences, timeline, why, alarms.

For whoever writes pages or programs on top of it:

    process.run(settings, parts=(pages,))                # cli/eagle.py calls it; pages(reactor, monitor) -> what to call in the end. Or by hand:
    monitor = Monitor(reactor, settings)                 # settings: MonitorSettings (settings.keys.port, .host, ...: add keys there); opens the store
    monitor.start()                                      # collects; monitor.stop() ends it
    monitor.add_listener(lambda batch: ...)              # told, on the reactor's thread, after each commit: batch.cluster, batch.znodes, ...
    monitor.reader                                       # StoreReader: everything that is stored. Blocking, from any thread: deferToThread(reader.x, ...)
    monitor.collectors[name].admin                       # TwistedAdmin: to ask and change the brokers
    monitor.collectors[name].zk                          # the ZooKeeper seam (common/zookeeper.py): zk.submit([GetData(path)]) -> Promise
    monitor.collectors[name].nodes                       # ZooKeeper's tree as it is now: path -> Node
    monitor.collectors[name].view                        # who leads, is in sync, is alive now, without asking the store: .leaders, .in_sync, .brokers
    monitor.collectors[name].pulse.silent                # registered brokers that do not answer
    monitor.collectors[name].state                       # "connected", or what is wrong

    reader.clusters(), reader.gaps()                                         # which clusters; when no monitor ran
    reader.brokers_at(cluster, t_ms), reader.controller_at(cluster, t_ms)    # t_ms None: now
    reader.topics_at(cluster, t_ms), reader.partitions_at(cluster, t_ms, topic=...)
    reader.partition_history(cluster, topic, partition, Span(...)), reader.controller_history(cluster)
    reader.ends_at(cluster, t_ms), reader.partition_samples(...), reader.rates(cluster, since_ms, until_ms, topic=...)
    reader.groups_at(cluster, t_ms), reader.group_history(cluster, group), reader.group_lag(cluster, group, t_ms)
    reader.lag_history(cluster, group, Span(...)), reader.lag_ranking(cluster)
    reader.config_at(cluster, "topic" | "broker", name), reader.config_history(...), reader.log_dirs(cluster)
    reader.znode_at, reader.children_at, reader.tree_at(cluster, path, t_ms), reader.znode_history(cluster, path), reader.znode_changes(cluster, Span(...))
    reader.broker_events(cluster, Span(...)), reader.alarms(cluster, only_on=True)
    reader.latest(cluster)                                                   # (id of the latest change, of the latest event): something new?
    reading.read_timeline(reader, cluster, Span(since_ms), subject="flights-0")    # lines in order of cause: sentence, path, code, page, alarming
    reading.explain(reader, cluster, "flights-0" | "broker 3" | "group G", t_ms)  # why; .sentences
    sql.asking.Asking(admin.core, parse(text), Bounds())                          # SQL over topics; see there

All answers are frozen dataclasses, described in `store/answers.py`.

Mirrors: Kafka Eagle (EFAK), a web monitor of many clusters with an embedded database.

Differs from Kafka: its brokers are measured by JMX, which is not used here; it keeps no history of its own.
"""

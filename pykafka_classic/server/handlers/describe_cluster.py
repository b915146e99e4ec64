"""DescribeCluster (key 60): the brokers and the controller, without topics (KIP-700)."""

from __future__ import annotations

from pykafka_classic.protocol.messages.describe_cluster import DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.authorized_operations import CLUSTER_OPERATIONS, NOT_REQUESTED
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Live brokers with the address of the listener that was asked."""
    body = request.expect(DescribeClusterRequest)
    return DescribeClusterResponse(
        cluster_id=broker.cluster_id,
        controller_id=broker.metadata_cache.controller_id(),
        cluster_authorized_operations=CLUSTER_OPERATIONS if body.include_cluster_authorized_operations else NOT_REQUESTED,
        brokers=[
            DescribeClusterBroker(broker_id=node.id, host=node.host, port=node.port, rack=node.rack)
            for node in broker.metadata_cache.alive_nodes(request.listener)
        ],
    )

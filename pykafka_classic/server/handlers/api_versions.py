"""ApiVersions (key 18): which APIs this broker serves, in which versions. It tells only what is served now. facts/protocol.md 5 (KIP-35, KIP-511)."""

from __future__ import annotations

import re

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(broker: BrokerServices, request: Request) -> Message:
    """The table of served APIs; INVALID_REQUEST for a client software name or version that is not of KIP-511's form."""
    body = request.expect(ApiVersionsRequest)
    if request.version >= 3 and not (_SOFTWARE.fullmatch(body.client_software_name) and _SOFTWARE.fullmatch(body.client_software_version)):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    features = broker.feature_cache
    return ApiVersionsResponse(
        api_keys=[ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in sorted(broker.served_apis.items())],
        finalized_features_epoch=features.epoch,
    )

"""The files of static/: scripts, styles, licences; read once, sent with a name that changes with their content, so that browsers may keep them for ever."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Final

from pykafka_classic.monitor.web.exchange import Request, Response, not_found

TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
FOR_EVER: Final = "public, max-age=31536000, immutable"
A_WHILE: Final = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file."""

    data: bytes
    content_type: str
    version: str


class Assets:
    """All of them."""

    def __init__(self) -> None:
        self._files = {
            each.name: Asset(data, TYPES[each.name.rpartition(".")[2]], hashlib.sha256(data).hexdigest()[:12])
            for each in resources.files("pykafka_classic.monitor.web").joinpath("static").iterdir()
            if each.name.rpartition(".")[2] in TYPES
            for data in [each.read_bytes()]
        }

    def address(self, name: str) -> str:
        """For templates."""
        return f"/static/{name}?v={self._files[name].version}"

    def answer(self, request: Request) -> Response:
        """The file. Raises Refused."""
        found = self._files.get(request.parts["file"])
        if found is None:
            raise not_found("There is no such file.")
        caching = FOR_EVER if request.text("v") == found.version else A_WHILE
        return Response(body=found.data, content_type=found.content_type, headers={"Cache-Control": caching})

"""Templates to HTML. Pure, but for the files of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from pykafka_classic.monitor.web import formats
from pykafka_classic.monitor.web.exchange import path_of

FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "count": formats.count,
    "bytes": formats.size,
    "rate": formats.rate,
    "duration": formats.duration,
    "moment": formats.moment,
    "clock": formats.clock,
    "iso": formats.iso,
    "plural": formats.plural,
}


class Templates:
    """The package's templates. Everything that is put in is escaped; a name that a page forgot to give is an error."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("pykafka_classic.monitor.web"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(FILTERS)
        self._environment.globals["path_of"] = path_of

    def fill(self, name: str, values: Mapping[str, Any]) -> bytes:
        """The document."""
        return self._environment.get_template(name).render(values).encode()

"""A sole owner reads for its group alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from spark_integration.cluster import CannotPlan, Cluster
from spark_integration.options import GroupOptions, Membership

LOOK_S: Final = 0.2


def refuse_company(cluster: Cluster) -> None:
    """CannotPlan where a job that must be alone is not."""
    group = cluster.options.group
    if group is None or group.membership is not Membership.SOLE:
        return
    members = cluster.members()
    if members:
        raise CannotPlan(why_not(group, members))


def await_solitude(group: GroupOptions, members: Callable[[], Sequence[str]], is_own: Callable[[str], bool]) -> None:
    """Return once nobody is in the group.

    A member of our own name may be our predecessor, which was killed, and whose session ends soon; nobody else is waited for. CannotPlan.
    """
    deadline = time.monotonic() + group.session_timeout_ms / 1000 + 1
    while there := members():
        if time.monotonic() >= deadline or not all(map(is_own, there)):
            raise CannotPlan(why_not(group, there))
        time.sleep(LOOK_S)


def why_not(group: GroupOptions, members: Sequence[str]) -> str:
    """For the user."""
    return (
        f"group {group.group_id!r} has {len(members)} active member(s): {', '.join(members[:3])}. A job is its group's sole owner, unless the option"
        " 'membership' is sharing (streams) or none"
    )

"""One registration: what was claimed under it ends with it. Touched by the engine's thread only, except for `over`."""

from __future__ import annotations

import time


class Life:
    def __init__(self, worker_id: str, lease_s: float, heartbeat_s: float, sent_at: float, protocol: int) -> None:
        self.worker_id, self.lease_s, self.heartbeat_s, self.protocol = worker_id, lease_s, heartbeat_s, protocol
        # Claims, with how many of their tasks have not been told of.
        self.claims: dict[int, int] = {}
        self.renewed_at = sent_at
        self.over = False

    @property
    def is_over(self) -> bool:
        """Judged by this process's own clock from when the last answered heartbeat was sent: earlier than the service
        does."""
        if not self.over and time.monotonic() - self.renewed_at >= self.lease_s:
            self.over = True
        return self.over

    def took(self, claim_id: int) -> None:
        self.claims[claim_id] = self.claims.get(claim_id, 0) + 1

    def settle(self, claim_id: int) -> None:
        left = self.claims.get(claim_id, 1) - 1
        if left > 0:
            self.claims[claim_id] = left
        else:
            self.claims.pop(claim_id, None)

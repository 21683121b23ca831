"""How many tasks a worker holds ahead of its slots, and how many it gives back. Pure: durations and counts come in as
arguments. The aim is that a task waits in a worker about a second at most, because elsewhere a slot may be free."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

# What is waiting should start within this time.
AHEAD_S = 1.0
# Above this estimated wait the surplus goes back. Twice the aim, so that a small misjudgement does not make tasks travel.
HAND_BACK_S = 2 * AHEAD_S
# A batch may be this many times the last one: no-op tasks reach the largest batch in three claims, surprises stay small.
GROWTH = 8
# A sample weighs at least this much, so that the estimate follows when a type's tasks change their nature.
WEIGHT = 1 / 16


@dataclass
class Pace:
    """What is known about the tasks of one type."""

    duration_s: float = 0.0
    samples: int = 0

    def record(self, duration_s: float) -> None:
        self.samples += 1
        weight = 1 / self.samples if self.samples < 16 else WEIGHT
        self.duration_s += (duration_s - self.duration_s) * weight

    def per_start(self, slots: int, floor_s: float) -> float | None:
        """Seconds between two starts when all slots are busy with such tasks; None when none has been seen."""
        return None if self.samples == 0 else max(self.duration_s / slots, floor_s)


@dataclass
class Load:
    slots: int
    running: int
    queued: int
    batch_max: int
    # For the tasks to come, guessed from the last ones; None: never seen.
    per_start_s: float | None
    # How many tasks the last claim that found any brought.
    last_batch: int
    # The shortest time any running task has run: when all slots are taken, tasks take at least that long.
    youngest_s: float


def wanted(load: Load) -> int:
    """The limit of the next claim, 0: do not claim now. Long or unknown tasks: the free slots and no more. Short ones:
    what starts within a second, at most two largest batches, asked for again when half of it is gone."""
    free = min(max(0, load.slots - load.running - load.queued), load.batch_max)
    busy = load.running >= load.slots
    # Nothing has started for a second, and it is not known when something will: what is handed back is not claimed again.
    if load.per_start_s is None or (busy and load.youngest_s >= AHEAD_S):
        return free
    per_start = max(load.per_start_s, load.youngest_s / load.slots if busy else 0.0)
    starts = math.inf if per_start <= 0 else AHEAD_S // per_start
    depth = min(starts, 2 * load.batch_max)
    if load.queued * 2 > depth:
        return free
    growth = max(load.slots, load.last_batch * GROWTH)
    return max(free, int(min(depth - load.queued, growth, load.batch_max)))


def surplus(
    slots: int, running: int, queue: Iterable[tuple[int, float | None]], since_start_s: float, youngest_s: float
) -> int:
    """How many tasks, counted from the end of the queue, to hand back. `queue`: counts with what lies between two
    starts, in order."""
    parts = list(queue)
    queued = sum(count for count, _ in parts)
    if queued == 0 or running < slots:
        return 0
    if since_start_s >= AHEAD_S:
        return queued
    least = youngest_s / slots
    if _within(parts, HAND_BACK_S, least) == queued:
        return 0
    return queued - _within(parts, AHEAD_S, least)


def _within(queue: list[tuple[int, float | None]], seconds: float, least_s: float) -> int:
    """How many of these will start within this time."""
    wait, count = 0.0, 0
    for number, per_start in queue:
        each = max(per_start or 0.0, least_s)
        count += min(number, max(0, int((seconds - wait) / each))) if each > 0 else number
        wait += each * number
    return count

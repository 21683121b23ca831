"""What tasks on a Ray cluster and the worker that sent them say to each other, through an actor: both sides only call it,
so that neither has to be reachable. It keeps nothing that a second asking does not bring back."""

from __future__ import annotations

import asyncio
from typing import Any


class Mailbox:
    """An actor without CPUs, made by the worker, gone with it."""

    def __init__(self) -> None:
        self._messages: list[tuple[int, str, Any]] = []
        self._some = asyncio.Event()
        self._asked: dict[tuple[int, int], asyncio.Future[Any]] = {}

    async def tell(self, token: int, messages: list[tuple[str, Any]]) -> None:
        self._messages += [(token, kind, body) for kind, body in messages]
        # One more of what this task has sent, however much was in it.
        self._messages.append((token, "batch", None))
        self._some.set()

    async def ask(self, token: int, number: int, verb: str, given: dict[str, Any]) -> Any:
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[(token, number)] = answered
        self._messages.append((token, "ask", (number, verb, given)))
        self._some.set()
        try:
            return await answered
        finally:
            self._asked.pop((token, number), None)

    async def answer(self, token: int, number: int, answer: Any) -> None:
        waiting = self._asked.get((token, number))
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def take(self, wait_s: float) -> list[tuple[int, str, Any]]:
        if not self._messages:
            self._some.clear()
            try:
                await asyncio.wait_for(self._some.wait(), wait_s)
            except asyncio.TimeoutError:
                return []
        taken, self._messages = self._messages, []
        return taken

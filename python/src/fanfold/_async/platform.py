"""Platform requests (one dataset in, several jobs, one answer out), and the releases that come of them: `client.requests`,
`client.releases`."""

from __future__ import annotations

import asyncio
import time as clock
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast

from .._async.operate import AsyncCalls
from ..api import endpoints as api
from ..api import models
from ..errors import StillRunning


class AsyncRequests:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def submit(self, request: Mapping[str, Any] | models.RequestSubmit) -> models.SubmittedRequest:
        """Once for each dataset, resource and version, however often it is sent, unless its mode is force."""
        reply = await self._send(request, {}, request.get("mode") != "force")
        return cast("models.SubmittedRequest", reply)

    async def dry_run(self, request: Mapping[str, Any] | models.RequestSubmit) -> models.WouldRequest:
        """Which recipe, which jobs and which names it would be, and what is wrong. Nothing is written."""
        return cast("models.WouldRequest", await self._send(request, {"dry_run": "true"}, True))

    async def _send(self, request: Any, query: Mapping[str, str], repeatable: bool) -> Any:
        return await self._calls.transport.call(
            api.post_platform_submit, body=request, query=query, repeatable=repeatable
        )

    async def get(self, id: str, *, detail: str | None = None) -> models.Request:
        """By any id it goes by: its own, a job's of it, or dataset/resource[/version]."""
        reply = await self._calls.transport.call(
            api.get_platform_status_request_id, params={"request_id": id}, query={"detail": detail}
        )
        return cast("models.Request", reply)

    async def wait(
        self,
        id: str,
        *,
        timeout_s: float | None = None,
        on_status: Callable[[models.Request], object] | None = None,
    ) -> models.Request:
        """The request at its end, whatever that is; asked for as often as the service says."""
        ends_at = None if timeout_s is None else clock.monotonic() + timeout_s
        while True:
            request = await self.get(id)
            if on_status is not None:
                on_status(request)
            if request["finished_at"] is not None:
                return request
            again_s = float(request.get("ask_again_s") or 2)
            left_s = again_s if ends_at is None else ends_at - clock.monotonic()
            if left_s <= 0:
                raise StillRunning(f"request {id} has not ended within {timeout_s:g} s", None)
            await asyncio.sleep(min(again_s, left_s))

    def list(self, **filter: Any) -> AsyncIterator[models.RequestSummary]:
        """Newest first."""
        return self._calls.listed(api.get_platform_requests, "requests", filter)

    async def cancel(self, request_id: str, **options: Any) -> models.PostPlatformRequestsRequestIdCancelReply:
        reply = await self._calls.verb(
            api.post_platform_requests_request_id_cancel, {"request_id": request_id}, options
        )
        return cast("models.PostPlatformRequestsRequestIdCancelReply", reply)

    async def resubmit(self, request_id: str, **options: Any) -> Any:
        """Goes on with what failed; with mode="force" it is processed again."""
        return await self._calls.verb(
            api.post_platform_requests_request_id_resubmit, {"request_id": request_id}, options
        )

    async def decide(self, request_id: str, approved: bool, **options: Any) -> Any:
        """A job of it waits for a person."""
        body = {**options, "approved": approved}
        return await self._calls.verb(api.post_platform_requests_request_id_decide, {"request_id": request_id}, body)

    async def failures(self, **query: Any) -> models.GetPlatformFailuresReply:
        """What goes wrong, as patterns: `hours`, `limit`."""
        reply = await self._calls.transport.call(api.get_platform_failures, query=query)
        return cast("models.GetPlatformFailuresReply", reply)

    async def recipes(self) -> Any:
        """How requests of a data type become jobs."""
        return (await self._calls.transport.call(api.get_platform_recipes))["recipes"]

    async def save_recipe(self, data_type: str, declaration: Mapping[str, Any]) -> Any:
        """All problems are told at once."""
        params = {"data_type": data_type}
        return await self._calls.transport.call(api.put_platform_recipes_data_type, params=params, body=declaration)

    async def remove_recipe(self, data_type: str, **options: Any) -> Any:
        return await self._calls.verb(api.delete_platform_recipes_data_type, {"data_type": data_type}, options)


class AsyncReleases:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def datasets(self, **filter: Any) -> AsyncIterator[models.GetPlatformDatasetsReplyDatasetsItem]:
        """Resources of datasets, by name, with their newest and their latest release."""
        return self._calls.listed(api.get_platform_datasets, "datasets", filter)

    async def of(self, dataset_id: str, resource_id: str) -> Any:
        """Of one resource, newest first, with who decided what."""
        query = {"dataset_id": dataset_id, "resource_id": resource_id}
        return (await self._calls.transport.call(api.get_platform_releases, query=query))["releases"]

    async def lookup(
        self, dataset_id: str, resource_id: str, version_id: str | None = None
    ) -> models.GetPlatformCatalogLookupReply:
        """What there is to be had: the version that is named, or the latest."""
        query = {"dataset_id": dataset_id, "resource_id": resource_id, "version_id": version_id}
        reply = await self._calls.transport.call(api.get_platform_catalog_lookup, query=query)
        return cast("models.GetPlatformCatalogLookupReply", reply)

    async def approve(self, id: str, **options: Any) -> Any:
        """`id`: of a release or its request, or dataset/resource[/version]."""
        return await self._calls.verb(api.post_platform_approve, {}, {**options, "id": id})

    async def reject(self, id: str, *, reason: str, **options: Any) -> Any:
        return await self._calls.verb(api.post_platform_reject, {}, {**options, "id": id, "reason": reason})

    async def revoke(self, id: str, *, reason: str, **options: Any) -> models.PostPlatformRevokeReply:
        """Takes it down, too."""
        reply = await self._calls.verb(api.post_platform_revoke, {}, {**options, "id": id, "reason": reason})
        return cast("models.PostPlatformRevokeReply", reply)

    async def unpublish(self, id: str, **options: Any) -> models.PostPlatformUnpublishReply:
        """What would go, unless `dry_run=False`."""
        reply = await self._calls.verb(api.post_platform_unpublish, {}, {**options, "id": id})
        return cast("models.PostPlatformUnpublishReply", reply)

"""The STAC catalogue: collections, items, searches, and the files that items link to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, cast

from .._async.operate import AsyncCalls
from ..api import endpoints as api
from ..api import models
from ..errors import NotFound


class AsyncStac(AsyncCalls):
    @property
    def stac_url(self) -> str:
        """What STAC clients open: `pystac_client.Client.open(client.stac_url, headers=client.stac_headers())`."""
        return f"{self.transport.url}/stac"

    def stac_headers(self) -> dict[str, str]:
        """What other clients of the catalogue send along. It has the key: give it to nobody else."""
        headers = self.transport.headers()
        return {"authorization": headers["authorization"]} if "authorization" in headers else {}

    async def search(self, **query: Any) -> models.StacItems:
        """A search of the STAC catalogue: collections, bbox, datetime, limit, filter …; `links` lead on."""
        return cast("models.StacItems", await self.transport.call(api.post_stac_search, body=query))

    async def items(self, **query: Any) -> AsyncIterator[dict[str, Any]]:
        """Every item that a search finds, page by page along its links."""
        body: dict[str, Any] | None = query
        while body is not None:
            page = cast("dict[str, Any]", await self.search(**body))
            for item in page["features"]:
                yield item
            link: dict[str, Any] | None = next((one for one in page.get("links", []) if one.get("rel") == "next"), None)
            following: dict[str, Any] = {} if link is None else link.get("body") or {}
            token = following.get("token")
            body = None if token is None else {**query, "token": token}

    async def collections(self) -> list[models.StacCollection]:
        reply = await self.transport.call(api.get_stac_collections)
        return cast("list[models.StacCollection]", reply["collections"])

    async def collection(self, collection_id: str) -> models.StacCollection:
        params = {"collection_id": collection_id}
        reply = await self.transport.call(api.get_stac_collections_collection_id, params=params)
        return cast("models.StacCollection", reply)

    async def item(self, collection_id: str, item_id: str) -> dict[str, Any]:
        params = {"collection_id": collection_id, "item_id": item_id}
        reply = await self.transport.call(api.get_stac_collections_collection_id_items_item_id, params=params)
        return cast("dict[str, Any]", reply)

    async def put_item(self, collection_id: str, item: Mapping[str, Any]) -> dict[str, Any]:
        """By hand; what a task writes is written with its finish: `ctx.put_items`."""
        params = {"collection_id": collection_id}
        reply = await self.transport.call(api.post_stac_collections_collection_id_items, params=params, body=item)
        return cast("dict[str, Any]", reply)

    async def download_asset(self, item: Mapping[str, Any], name: str, file: str | Path) -> Path:
        """The file behind one of an item's assets."""
        assets: Mapping[str, Any] = item.get("assets") or {}
        if name not in assets:
            hint = f"it has {', '.join(sorted(assets)) or 'none'}"
            raise NotFound(f"the item {item.get('id')} has no asset {name}", hint=hint)
        return await self.download(assets[name]["href"], file)

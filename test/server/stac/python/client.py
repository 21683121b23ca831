"""pystac-client against the server: opens, lists, searches, pages, filters; every record it gets is validated."""
import json

import pystac_client
from offline import given, problems

client = pystac_client.Client.open(given["url"], headers=given["headers"])
answer = {
    "title": client.title,
    "conforms": {
        name: client.conforms_to(name)
        for name in ["CORE", "COLLECTIONS", "FEATURES", "ITEM_SEARCH", "FILTER", "QUERY", "SORT", "FIELDS"]
    },
    "searches": {},
}
collections = list(client.get_collections())
answer["collections"] = sorted(one.id for one in collections)
records = {one.id: one.to_dict(include_self_link=True, transform_hrefs=False) for one in collections}
for name, arguments in given["searches"].items():
    search = client.search(**arguments)
    pages = [page["features"] for page in search.pages_as_dicts()]
    answer["searches"][name] = {"ids": [item["id"] for page in pages for item in page], "pages": len(pages)}
    if "fields" not in arguments:
        records.update({(item["collection"], item["id"]): item for page in pages for item in page})
collection = client.get_collection(given["collection"])
answer["items"] = [item.id for item in collection.get_items()]
answer["item"] = collection.get_item(given["item"]).id
answer["queryables"] = sorted(collection.get_queryables()["properties"])
answer["all_queryables"] = sorted(client.get_queryables()["properties"])
root = client.to_dict(transform_hrefs=False)
answer["problems"] = problems([*records.values(), root])
answer["validated"] = len(records)
print(json.dumps(answer))

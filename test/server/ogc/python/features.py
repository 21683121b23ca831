"""OWSLib's client of OGC API Features: what layers there are, and features by count, box, time, filter, page and name."""
import json
import sys
from urllib.parse import parse_qsl, urlsplit

from owslib.ogcapi.features import Features

given = json.load(sys.stdin)
client = Features(given["url"], headers={"Authorization": f"Bearer {given['key']}"})


def numbers(found):
    return [feature["id"] for feature in found["features"]]


def pages(**asked):
    """It follows no links itself: what a link of rel next asks for is asked with it."""
    while True:
        page = client.collection_items("grid", **asked)
        yield numbers(page)
        following = [link["href"] for link in page["links"] if link["rel"] == "next"]
        if not following:
            return
        asked = dict(parse_qsl(urlsplit(following[0]).query))


described = client.collection("grid")
box = client.collection_items("grid", bbox=[2, 40, 4, 41], limit=100)
print(
    json.dumps(
        {
            "listed": client.feature_collections(),
            "title": described["title"],
            "extent": described["extent"]["spatial"]["bbox"][0],
            "queryables": sorted(client.collection_queryables("grid")["properties"]),
            "conforms": client.conformance()["conformsTo"],
            "opened": client.api()["openapi"],
            "count": client.collection_items("grid", limit=1)["numberMatched"],
            "in_box": [feature["geometry"]["coordinates"] for feature in box["features"]],
            "in_time": numbers(client.collection_items("grid", datetime_="2024-01-03T00:00:00Z/2024-01-05T00:00:00Z")),
            "filtered": numbers(client.collection_items("grid", filter="n = 3 AND weight < 10", limit=100)),
            "pages": list(pages(limit=80)),
            "one": client.collection_item("grid", "5")["properties"]["name"],
        }
    )
)

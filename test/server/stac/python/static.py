"""The path of a catalog.json on standard input: opened and walked by pystac from files alone, and what is wrong with which record."""
import json

import pystac
from offline import given, problems


class FilesOnly(pystac.StacIO):
    """Refuses whatever is no file."""

    def read_text(self, source, *args, **kwargs):
        href = str(source.get_absolute_href() if isinstance(source, pystac.Link) else source)
        if "://" in href:
            raise RuntimeError(f"asked for {href}")
        with open(href, encoding="utf8") as file:
            return file.read()

    def write_text(self, *args, **kwargs):
        raise RuntimeError("nothing is written here")


catalog = pystac.Catalog.from_file(given, stac_io=FilesOnly())
items = list(catalog.get_items(recursive=True))
collections = list(catalog.get_collections())
records = [one.to_dict(include_self_link=False, transform_hrefs=False) for one in [*items, *collections]]
print(json.dumps({
    "items": [item.id for item in items],
    "collections": [one.id for one in collections],
    "problems": problems(records),
}))

"""What every script here begins with: the input, and a STAC validator that has all its schemas and never asks the network for one."""
import json
import sys
from functools import cached_property
from pathlib import Path

import pystac
from pystac.validation import set_validator
from pystac.validation.stac_validator import JsonSchemaSTACValidator
from referencing import Registry, Resource

schemas = {}
for file in sorted((Path(__file__).parents[3] / "vectors" / "stac_schemas").glob("*.json")):
    schema = json.loads(file.read_text())
    schemas[schema["$id"].rstrip("#")] = schema


class Offline(JsonSchemaSTACValidator):
    def __init__(self):
        super().__init__()
        self.schema_cache.update(schemas)

    @cached_property
    def registry(self):
        """Made once: made anew for each record it takes most of the time."""
        return Registry().with_resources([(uri, Resource.from_contents(one)) for uri, one in self.schema_cache.items()])

    def _get_schema(self, schema_uri):
        uri = schema_uri.rstrip("#")
        if uri not in self.schema_cache:
            raise KeyError(f"no schema is at hand for {uri}: see test/python_tools.ts")
        return self.schema_cache[uri]


set_validator(Offline())
given = json.load(sys.stdin)


def problems(records):
    """What is wrong with each of the records, by their ids; empty when all are valid STAC."""
    found = {}
    for record in records:
        try:
            pystac.validation.validate_dict(record)
        except Exception as error:
            found[record.get("id")] = str(error)[:1000]
    return found

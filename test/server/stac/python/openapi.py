"""OpenAPI documents by name on standard input: what is wrong with each."""
import json
import sys

from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

kinds = {"3.0": OpenAPIV30SpecValidator, "3.1": OpenAPIV31SpecValidator}
found = {}
for name, document in json.load(sys.stdin).items():
    validator = kinds[document["openapi"][:3]](document)
    found[name] = [f"{'/'.join(map(str, error.path))}: {error.message[:300]}" for error in validator.iter_errors()][:10]
print(json.dumps(found))

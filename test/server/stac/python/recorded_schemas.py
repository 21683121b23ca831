"""Takes the JSON schemas out of the HTTP recordings that pystac's extension packages test with: folder of sources, file to write."""
import gzip
import json
import sys
import tarfile
from pathlib import Path

import yaml

schemas = {}
for source in Path(sys.argv[1]).glob("*.tar.gz"):
    with tarfile.open(source) as archive:
        for member in archive.getmembers():
            if "/cassettes/" not in member.name or not member.name.endswith(".yaml"):
                continue
            recorded = yaml.safe_load(archive.extractfile(member).read())
            for one in recorded["interactions"]:
                if one["response"]["status"]["code"] != 200:
                    continue
                body = one["response"]["body"]["string"]
                body = body.encode() if isinstance(body, str) else body
                if body[:2] == b"\x1f\x8b":
                    body = gzip.decompress(body)
                try:
                    document = json.loads(body)
                except ValueError:
                    continue
                if "$schema" in document:
                    # Where it was found, and what it calls itself: one of the two may be the end of a redirect.
                    schemas[one["request"]["uri"]] = document
                    schemas[document.get("$id", "").rstrip("#") or one["request"]["uri"]] = document
assert any("/projection/v2" in uri for uri in schemas), sorted(schemas)
Path(sys.argv[2]).write_text(json.dumps(schemas))

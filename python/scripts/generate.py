"""Makes what of the package follows from something else: the models and the table of endpoints from our OpenAPI document, and the
blocking twins of the asynchronous modules. `python scripts/generate.py openapi.json` writes, with --check it only compares."""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any, cast

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "fanfold"
HEAD = '"""{}\n\nMade by scripts/generate.py: do not edit."""\n\n'
Schema = dict[str, Any]


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name) if part)


class Models:
    """One TypedDict for each object of the document; those without a name of their own are named after where they stand."""

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}

    def of(self, given: Any, name: str) -> str:
        if not isinstance(given, dict) or not given:
            return "Any"
        schema = cast("Schema", given)
        if "$ref" in schema:
            return str(schema["$ref"]).rsplit("/", 1)[1]
        if "const" in schema:
            return f"Literal[{schema['const']!r}]" if schema["const"] is not None else "None"
        if "enum" in schema:
            return "Literal[" + ", ".join(repr(one) for one in schema["enum"]) + "]"
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self.union([self.of(one, f"{name}{place or ''}") for place, one in enumerate(schema[word])])
        if "allOf" in schema:
            return "dict[str, Any]"
        kind: Any = schema.get("type")
        if isinstance(kind, list):
            return self.union([self.of({**schema, "type": one}, name) for one in cast("list[Any]", kind)])
        return self.plain(str(kind), schema, name)

    def plain(self, kind: str, schema: Schema, name: str) -> str:
        if kind == "object":
            return self.object(schema, name)
        if kind == "array":
            if "prefixItems" in schema:
                return "list[Any]"
            return f"list[{self.of(schema.get('items'), name + 'Item')}]"
        words = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        return words.get(kind, "Any")

    @staticmethod
    def union(parts: list[str]) -> str:
        if "Any" in parts:
            return "Any"
        once = list(dict.fromkeys(parts))
        return " | ".join(one for one in once if one != "None") + (" | None" if "None" in once else "")

    def object(self, schema: Schema, name: str) -> str:
        fields: dict[str, Any] = schema.get("properties") or {}
        if not fields:
            inner = schema.get("additionalProperties")
            return f"dict[str, {self.of(inner, name + 'Value') if isinstance(inner, dict) else 'Any'}]"
        self.classes[name] = ""
        required = set(schema.get("required") or [])
        typed = {
            key: self.of(one, name + camel(key))
            if key in required
            else f"NotRequired[{self.of(one, name + camel(key))}]"
            for key, one in fields.items()
        }
        if all(key.isidentifier() and not keyword.iskeyword(key) for key in typed):
            lines = "".join(f"    {key}: {text}\n" for key, text in typed.items())
            self.classes[name] = f"class {name}(TypedDict):\n{lines}"
        else:
            lines = "".join(f"        {key!r}: {json.dumps(text)},\n" for key, text in typed.items())
            self.classes[name] = f"{name} = TypedDict(\n    {name!r},\n    {{\n{lines}    }},\n)\n"
        return name


def models(document: Schema) -> str:
    made = Models()
    for name, schema in sorted(document["components"]["schemas"].items()):
        text = made.of(schema, name)
        if text != name:
            made.classes[name] = f"{name}: TypeAlias = {json.dumps(text)}\n"
    aliases: list[str] = []
    for _, _, one in operations(document):
        name = camel(one["operationId"])
        body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        reply = usual_reply(one)
        for word, schema in (("Body", body), ("Reply", reply)):
            if schema is None:
                continue
            # Alternatives are named after the part of a union they are, and never as the union itself.
            many = isinstance(schema, dict) and ("anyOf" in schema or "oneOf" in schema)
            text = made.of(schema, f"{name}{word}One" if many else name + word)
            if text != name + word:
                aliases.append(f"{name}{word}: TypeAlias = {json.dumps(text)}\n")
    head = HEAD.format("What calls send and hear, as the OpenAPI document says: plain dicts with types for editors.")
    imports = (
        "from __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict\n\n"
        "if TYPE_CHECKING:\n    from typing_extensions import NotRequired\n"
    )
    return head + imports + "".join(f"\n\n{text}" for text in made.classes.values() if text) + "\n\n" + "".join(aliases)


def usual_reply(one: Schema) -> Any:
    for status in ("200", "201", "202", "204"):
        content = one["responses"].get(status, {}).get("content", {})
        if "application/json" in content:
            return content["application/json"]["schema"]
    return None


def operations(document: Schema) -> list[tuple[str, str, Schema]]:
    return [
        (method.upper(), path, one)
        for path, methods in sorted(document["paths"].items())
        for method, one in sorted(methods.items())
    ]


def endpoints(document: Schema) -> str:
    lines = [
        HEAD.format("The calls there are: method, path, and whether sending one twice does no more than once."),
        IMPORTS,
    ]
    for method, path, one in operations(document):
        codes = sorted(int(code) for code in one["responses"] if code.isdigit() and int(code) < 400)
        usual = ", ".join(str(code) for code in codes) + ("," if len(codes) == 1 else "")
        lines.append(f"{one['operationId']} = Endpoint({method!r}, {path!r}, {one['x-repeatable']}, ({usual}))\n")
    return "".join(lines).replace("'", '"')


IMPORTS = """from __future__ import annotations

from typing import NamedTuple


class Endpoint(NamedTuple):
    method: str
    path: str
    repeatable: bool
    statuses: tuple[int, ...]


"""

# What is spelt otherwise where nothing is awaited; longer words first.
TWINS = [
    (r"\basync def\b", "def"),
    (r"\basync with\b", "with"),
    (r"\basync for\b", "for"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bawait ", ""),
    (r"\b__aiter__\b", "__iter__"),
    (r"\b__anext__\b", "__next__"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncGenerator\[([^\]]+(?:\[[^\]]*\])?), None\]", r"Generator[\1, None, None]"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\bAsyncIterable\b", "Iterable"),
    (r"\baclose\b", "close"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\baiter_text\b", "iter_text"),
    (r"\baread\b", "read"),
    (r"\bAsync(Client|Context|Previous|Zones|Transport|Asker|Calls|Requests|Releases|Uploads|Stac)\b", r"\1"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bfrom \.\._async\.", "from .._sync."),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"^import asyncio$", "import time"),
    (r"\bpsycopg\.AsyncConnection\b", "psycopg.Connection"),
    (r"\bAwaitable\[([^\]]+)\]", r"\1"),
    (r"httpx\.Client\b", "httpx.Client"),
]


def twin(source: str) -> str:
    # The client of httpx is named before the general rule could take its name apart.
    text = source.replace("httpx.AsyncClient", "httpx.Client")
    for pattern, other in TWINS:
        text = re.sub(pattern, other, text, flags=re.MULTILINE)
    return f"# Made by scripts/generate.py from its twin in _async: do not edit.\n{text}"


def outputs(document: Schema | None) -> dict[Path, str]:
    made: dict[Path, str] = {}
    if document is not None:
        made[PACKAGE / "api" / "models.py"] = models(document)
        made[PACKAGE / "api" / "endpoints.py"] = endpoints(document)
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        made[PACKAGE / "_sync" / source.name] = twin(source.read_text())
    return made


def main(argv: list[str]) -> int:
    paths = [one for one in argv if not one.startswith("--")]
    document = json.loads(Path(paths[0]).read_text()) if paths else None
    stale: list[str] = []
    for path, text in outputs(document).items():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(str(path.relative_to(PACKAGE)))
        if "--check" not in argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if "--check" in argv and stale:
        print(f"not as the document and the sources say: {', '.join(stale)}; run npm run docs")
        return 1
    print(f"{len(stale)} files written" if "--check" not in argv else "all as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

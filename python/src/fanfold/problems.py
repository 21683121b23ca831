"""One shape for everything that is wrong with an input: where, what, and what to do. The words are those of the
TypeScript package."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# More than this helps nobody, and would let a hostile input make a huge error.
MAX_PROBLEMS = 20

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


@dataclass(frozen=True)
class Problem:
    path: str
    problem: str
    fix: str = ""

    def told(self) -> dict[str, str]:
        return {"path": self.path, "problem": self.problem, "fix": self.fix}


def json_path(steps: Iterable[str | int]) -> str:
    """`$.tiles[3]["odd key"]`"""
    path = "$"
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_KEY.match(step):
            path += f".{step}"
        else:
            path += f"[{json.dumps(shorten(step), ensure_ascii=False)}]"
    return path


def shorten(text: str, limit: int = 60) -> str:
    """For names and values quoted inside messages: an error must not repeat a megabyte of input."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def quoted(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(shorten(value), ensure_ascii=False)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return kind_of(value)


def is_list(value: object) -> bool:
    """Plain truth: a type checker that narrows here would make Unknown of what was Any."""
    return isinstance(value, (list, tuple))


def is_dict(value: object) -> bool:
    return isinstance(value, dict)


def kind_of(value: object) -> str:
    """How a message names a value without showing it: "a string", "an array"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (list, tuple)):
        return "an array"
    if isinstance(value, dict):
        return "an object"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {shorten(name)}"


def format_problems(title: str, problems: Sequence[Problem]) -> str:
    lines: list[str] = []
    for one in problems[:MAX_PROBLEMS]:
        line = f"- {one.problem}" if one.path == "" else f"- {one.path}: {one.problem}"
        lines.append(line if one.fix == "" else f"{line}\n  {one.fix}")
    if len(problems) > MAX_PROBLEMS:
        lines.append(f"- and {len(problems) - MAX_PROBLEMS} more")
    return "\n".join([f"{title}:", *lines])


def suggestion(word: str, known: Iterable[str]) -> str:
    """ "Did you mean x?", or what there is to choose from."""
    names = list(known)
    close = did_you_mean(word, names)
    if close is not None:
        return f"Did you mean {json.dumps(close)}?"
    if not names:
        return "There are none."
    shown = ", ".join(json.dumps(shorten(name), ensure_ascii=False) for name in names[:12])
    return f"Known: {shown}{', …' if len(names) > 12 else ''}."


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    if len(word) > 100:
        return None
    names = list(known)
    best: str | None = None
    best_distance = max(1, len(word) // 3) + 1
    for name in names:
        if abs(len(name) - len(word)) >= best_distance:
            continue
        distance = _edit_distance(word.lower(), name.lower())
        if distance < best_distance:
            best, best_distance = name, distance
    if best is not None or len(word) < 3:
        return best
    # The beginning of one name, or a name and more: "group" for "group_id".
    started: list[str] = []
    for name in names:
        short, long = sorted((word.lower(), name.lower()), key=len)
        if len(short) >= 3 and long.startswith(short):
            started.append(name)
    return started[0] if len(started) == 1 else None


def _edit_distance(a: str, b: str) -> int:
    """Edits (with neighbouring swaps counted as one) that lead from a to b."""
    before: list[int] = []
    above = list(range(len(b) + 1))
    for row in range(1, len(a) + 1):
        line = [row]
        for column in range(1, len(b) + 1):
            cost = 0 if a[row - 1] == b[column - 1] else 1
            value = min(above[column] + 1, line[column - 1] + 1, above[column - 1] + cost)
            if row > 1 and column > 1 and a[row - 1] == b[column - 2] and a[row - 2] == b[column - 1]:
                value = min(value, before[column - 2] + 1)
            line.append(value)
        before, above = above, line
    return above[len(b)]

"""Puts the table of built-in primitives into the page on formulas when the site is built."""

from __future__ import annotations

from typing import Any

from symgrad.language.primitive import Primitive
from symgrad.language.table import BUILTINS

MARK = "<!-- table of primitives -->"


def primitives_table() -> str:
    """Return the rows of the table as Markdown."""
    lines = ["| name | arguments | written as |", "|---|---|---|"]
    lines += [f"| `{p.name}` | {p.arity} | `{_written(p)}` |" for p in BUILTINS]
    return "\n".join(lines)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the mark; MkDocs calls this for every page."""
    return markdown.replace(MARK, primitives_table())


def _written(primitive: Primitive) -> str:
    return primitive.text.replace("#1", "a").replace("#2", "b")

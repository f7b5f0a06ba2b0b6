"""Self-contained pages: templates that escape all values, with their style and script inside.

The content security policy of a page allows its own style and script, by their hashes, and nothing else.
"""
from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from il_morph import __version__
from il_morph.errors import InputError
from il_morph.report.characters import direction, shown, shown_form

FILES = Path(__file__).parent / "pages"


def read_file(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def page(template: str, scripts: tuple[str, ...] = (), **values: Any) -> str:
    """Render one of our templates; `scripts` are files of ours to embed."""
    style, script = read_file("style.css"), "\n".join(map(read_file, scripts))
    policy = "; ".join(["default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'",
                        f"style-src {_hash(style)}", f"script-src {_hash(script) if script else repr('none')}"])
    return _environment().get_template(template).render(
        style=style, script=script, policy=policy, version=__version__, **values)


def picture_source(svg: bytes) -> str:
    """A data URL, so that the picture is part of the page."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def _hash(content: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii") + "'"


def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise InputError("pages need Jinja2: pip install jinja2") from None
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FILES), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(shown=shown, shown_form=shown_form, direction=direction)
    return environment

"""What every page has: style, head, navigation, light and dark."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from nicegui import app, ui
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments

PAGES = {"Play": "/play", "Arena": "/arena", "Replay": "/replay", "Training": "/training", "Studies": "/studies"}
"""the navigation: name and address of each page"""

OTHER_COLOURS = "() => emit(!document.body.classList.contains('body--dark'))"
"""asked of the browser, for only it knows what the system has chosen"""


@cache
def style(name: str) -> str:
    """Read a style sheet."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def link(text: str, target: str, here: bool) -> None:
    """Put a link into a navigation."""
    made = TextElement(tag="a", text=text).classes("link here" if here else "link").props(f'href="{target}"')
    if here:
        made.props('aria-current="page"')


def frame(page: str) -> None:
    """Build the head of a page."""
    ui.add_css(style("style.css"))
    chosen = app.storage.user.get("dark")
    dark = ui.dark_mode(chosen if isinstance(chosen, bool) else None)

    def switch(event: GenericEventArguments) -> None:
        if isinstance(event.args, bool):
            dark.value = app.storage.user["dark"] = event.args

    with ui.element("header").classes("top"):
        TextElement(tag="a", text="Rookery").classes("brand").props('href="/"')
        with ui.element("nav").props('aria-label="Pages"'):
            for name, target in PAGES.items():
                link(name, target, name == page)
        button = TextElement(tag="button", text="Light / dark").classes("plain").props('type="button"')
        button.on("click", switch, js_handler=OTHER_COLOURS)


def plain_button(text: str, on_click: object, marker: str = "") -> ui.element:
    """Make a button with words on it."""
    made = TextElement(tag="button", text=text).classes("plain").props('type="button"')
    made.on("click", on_click)  # type: ignore[arg-type]
    return made.mark(marker) if marker else made

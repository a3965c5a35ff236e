"""The pages of the studies: all of them as cards, and each text with its figures and probes."""

from __future__ import annotations

import json
from typing import Any

from fastapi import HTTPException
from fastapi.responses import FileResponse, PlainTextResponse
from nicegui import app, run, ui
from nicegui.element import Element

from rookery.web.frame import frame, link, style
from rookery.web.probing import probed
from rookery.web.reports import DATA, FIGURES, Document, Study, documents, studies
from rookery.web.site import Site

LONGEST_QUESTION = 420  # signs of a question on a card


class Probes(Element, component="probes.js"):
    """R2 of probes by layer, with a slider over training steps; sliding stays in the browser."""

    def __init__(self, networks: list[dict[str, Any]]):
        super().__init__()
        self._props["content"] = json.dumps(networks, separators=(",", ":"))


def build_studies(site: Site) -> None:
    """Register the pages of the studies and the files they show."""
    build_pages(site)
    build_files(site)


def build_pages(site: Site) -> None:
    """Register the pages: all studies, and one text."""

    @ui.page("/studies", title="Rookery: studies")
    async def index() -> None:
        frame("Studies")
        ui.add_css(style("studies.css"))
        found = await run.io_bound(documents, site.studies) or {}
        with ui.element("main").classes("wide"):
            ui.html("<h1>Studies</h1>", sanitize=False)
            with ui.element("div").classes("cards"):
                for study in studies(found):
                    card(study)

    @ui.page("/studies/{key}", title="Rookery: studies")
    async def one(key: str) -> None:
        frame("Studies")
        ui.add_css(style("studies.css"))
        found = await run.io_bound(documents, site.studies) or {}
        if key not in found:
            with ui.element("main").classes("note"):
                ui.label("There is no such text here.")
                link("All studies", "/studies", False)
            return
        runs = found[key].runs
        networks = await run.io_bound(probed, runs) if runs is not None else None
        page(found[key], next(study for study in studies(found) if found[key] in study.documents), networks or [])


def build_files(site: Site) -> None:
    """Register the files: figures, numbers, and the text itself."""

    @app.get("/studies/{key}/figure/{number}")
    def figure(key: str, number: int) -> FileResponse:
        chosen = documents(site.studies).get(key)
        if chosen is None or not 0 <= number < len(chosen.figures) or not chosen.figures[number].is_file():
            raise HTTPException(404)
        path = chosen.figures[number]
        return FileResponse(path, media_type=FIGURES[path.suffix])

    @app.get("/studies/{key}/data/{number}")
    def data(key: str, number: int) -> FileResponse:
        chosen = documents(site.studies).get(key)
        if chosen is None or not 0 <= number < len(chosen.data) or not chosen.data[number].is_file():
            raise HTTPException(404)
        path = chosen.data[number]
        return FileResponse(path, media_type=DATA[path.suffix], filename=path.name)

    @app.get("/studies/{key}/text")
    def text(key: str) -> PlainTextResponse:
        chosen = documents(site.studies).get(key)
        if chosen is None:
            raise HTTPException(404)
        told = {"Content-Disposition": 'attachment; filename="report.md"'}
        return PlainTextResponse(chosen.text, media_type="text/markdown", headers=told)


def card(study: Study) -> None:
    """Show what a study asks, what it has found so far, and where to read on."""
    question = study.question
    with ui.element("section").classes("card study").mark("study"):
        ui.label(study.title).classes("now")
        ui.label(
            question if len(question) <= LONGEST_QUESTION else question[:LONGEST_QUESTION].rsplit(" ", 1)[0] + " …"
        )
        answer = study.answer
        if answer is not None:
            with ui.element("div").classes("answer"):
                ui.label(answer.question).classes("small")
                ui.label(answer.verdict).classes("verdict")
                ui.label(answer.measured).classes("small number")
        elif not study.reported:
            ui.label("No report yet. To begin, in small:").classes("small")
            ui.label(study.documents[0].command).classes("table-text command").mark("command")
        links(study, None)


def links(study: Study, here: Document | None) -> None:
    """Lead to the texts of a study."""
    with ui.element("nav").classes("games texts").props('aria-label="Texts of the study"'):
        for document in study.documents:
            link(document.name, f"/studies/{document.key}", document is here)


def page(document: Document, study: Study, networks: list[dict[str, Any]]) -> None:
    """Show a text with its figures, and the probes if there are any."""
    links(study, document)
    with ui.element("main").classes("wide report"):
        if networks:
            with ui.element("section").classes("card"):
                ui.html("<h2>Probes by layer, while the networks learn</h2>", sanitize=False)
                Probes(networks).mark("probes")
        for kind, content, number in document.pieces():
            if kind == "html":
                ui.html(content, sanitize=False)  # everything in it was escaped
                continue
            target = f"/studies/{document.key}/figure/{number}"
            with ui.element("figure"):
                with ui.element("a").props(f'href="{target}" target="_blank"'):
                    ui.element("img").props(f'src="{target}" loading="lazy"')._props["alt"] = content
                with ui.element("figcaption"):
                    ui.label(content).classes("small")
        files(document)


def files(document: Document) -> None:
    """Lead to the text as a file, and to the numbers of its figures."""
    with ui.element("nav").classes("games texts files").props('aria-label="Files"'):
        download("The text (Markdown)", f"/studies/{document.key}/text")
        for number, path in enumerate(document.data):
            download(path.name, f"/studies/{document.key}/data/{number}")


def download(text: str, target: str) -> None:
    """Make a link to a file."""
    with ui.element("a").classes("link").props(f'href="{target}" download'):
        ui.label(text)

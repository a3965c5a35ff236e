"""A report as one HTML page that needs nothing else: pictures are within it, and nothing is loaded from elsewhere.

It reads the Markdown that reports are written in: headings, paragraphs, lists, tables, pictures, fenced code, `code`,
**bold**, *emphasis* and [links](target). Of links the text is kept, with their target in brackets if it is elsewhere.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rookery.writing import write_whole

REPORT, PAGE = "report.md", "report.html"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff; }
h1, h2, h3 { line-height: 1.2; margin-top: 2rem; }
h2 { border-bottom: 1px solid #ccc; padding-bottom: .2rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; display: block; overflow-x: auto; }
th, td { border: 1px solid #ccc; padding: .25rem .5rem; text-align: left; vertical-align: top; }
th { background: #f0f0f0; }
tr:nth-child(even) td { background: #fafafa; }
img { max-width: 100%; height: auto; margin: 1rem 0; }
code, pre { font-family: ui-monospace, monospace; font-size: 90%; background: #f4f4f4; }
pre { padding: .5rem; overflow-x: auto; }
""".strip()
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+(.*)")
RULE = re.compile(r"\|?[\s:|-]*-{3}[\s:|-]*\|?")


def write_pages(folder: Path, title: str, lines: Iterable[str]) -> Path:
    """Write a report into its folder, as Markdown and as a page; return where the Markdown is."""
    text = "\n".join(lines).rstrip() + "\n"
    write_whole(folder / REPORT, text.encode())
    write_whole(folder / PAGE, page(title, text, folder).encode())
    return folder / REPORT


def page(title: str, markdown: str, folder: Path) -> str:
    """Return a page of some Markdown, with the pictures of a folder."""
    body = "\n".join(blocks(markdown.splitlines(), folder))
    head = f'<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n<style>\n{STYLE}\n</style>'
    sized = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n{sized}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def blocks(lines: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield the blocks of some lines."""
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        if line.startswith("```"):
            end = next((i for i in range(place + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            yield f"<pre>{html.escape(chr(10).join(lines[place + 1 : end]))}</pre>"
            place = end + 1
            continue
        end = place + 1
        if not line.startswith("#"):
            end = next((i for i in range(place, len(lines)) if not goes_on(lines, place, i)), len(lines))
        yield block(lines[place:end], folder)
        place = end


def goes_on(lines: Sequence[str], begin: int, place: int) -> bool:
    """Tell whether a line belongs to the block that begins at another."""
    line = lines[place]
    if place == begin:
        return True
    if not line.strip() or line.startswith(("#", "```")):
        return False
    return line.startswith("|") == lines[begin].startswith("|")


def block(lines: Sequence[str], folder: Path) -> str:
    """Return one heading, table, list, or paragraph."""
    first = lines[0]
    heading = re.match(r"(#{1,6})\s+(.*)", first)
    if heading:
        level = len(heading[1])
        return f"<h{level}>{inline(heading[2], folder)}</h{level}>"
    if first.startswith("|"):
        return table_of(lines, folder)
    if ITEM.fullmatch(first):
        kind = "ol" if first.strip()[0].isdigit() else "ul"
        return f"<{kind}>\n{items(lines, folder)}\n</{kind}>"
    return f"<p>{inline(' '.join(line.strip() for line in lines), folder)}</p>"


def items(lines: Sequence[str], folder: Path) -> str:
    """Return the items of a list; lines that begin no item go on with the last."""
    texts: list[str] = []
    for line in lines:
        found = ITEM.fullmatch(line)
        if found:
            texts.append(found[1])
        else:
            texts[-1] += " " + line.strip()
    return "\n".join(f"<li>{inline(text, folder)}</li>" for text in texts)


def table_of(lines: Sequence[str], folder: Path) -> str:
    """Return a table; the line below its head only draws a rule."""
    rows = [line.strip().strip("|").split("|") for line in lines if not RULE.fullmatch(line.strip())]
    out = ["<table>"]
    for number, row in enumerate(rows):
        kind = "th" if number == 0 else "td"
        out.append("<tr>" + "".join(f"<{kind}>{inline(cell.strip(), folder)}</{kind}>" for cell in row) + "</tr>")
    return "\n".join([*out, "</table>"])


def inline(text: str, folder: Path) -> str:
    """Return a line with its code, pictures, links and emphasis."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{html.escape(part[1:-1])}</code>" if part.startswith("`") and len(part) > 2 else plain(part, folder)
        for part in parts
    )


def plain(text: str, folder: Path) -> str:
    """Return text without code."""
    pieces, begin = [], 0
    for found in PICTURE.finditer(text):
        pieces += [styled(text[begin : found.start()]), picture(found[1], found[2], folder)]
        begin = found.end()
    return "".join([*pieces, styled(text[begin:])])


def styled(text: str) -> str:
    """Return text with links as text, and emphasis."""
    text = LINK.sub(lambda found: f"{found[1]} ({found[2]})" if "://" in found[2] else found[1], text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", html.escape(text))
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<i>\1</i>", text)


def picture(title: str, name: str, folder: Path) -> str:
    """Return a picture of the folder, as it is; of one that is not there, its title."""
    place = folder / name
    if "://" in name or not place.is_file():
        return f"[{html.escape(title)}]"
    data = base64.b64encode(place.read_bytes()).decode()
    kind = "svg+xml" if place.suffix == ".svg" else "jpeg" if place.suffix == ".jpg" else "png"
    return f'<img alt="{html.escape(title)}" src="data:image/{kind};base64,{data}">'

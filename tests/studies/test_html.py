"""Reports as pages: the Markdown that reports are written in."""

from __future__ import annotations

import base64

import pytest

from rookery.studies.html import page


def body(markdown, folder):
    return page("A title", markdown, folder).partition("<body>\n")[2].partition("\n</body>")[0]


@pytest.mark.parametrize(
    ("markdown", "wanted"),
    [
        ("# One\n## Two", "<h1>One</h1>\n<h2>Two</h2>"),
        ("one\ntwo\n\nthree", "<p>one two</p>\n<p>three</p>"),
        ("a < b & `c < d`", "<p>a &lt; b &amp; <code>c &lt; d</code></p>"),
        ("**bold** and *emphasis*, 2 * 3 * 4", "<p><b>bold</b> and <i>emphasis</i>, 2 * 3 * 4</p>"),
        ("`**not bold**`", "<p><code>**not bold**</code></p>"),
        ("- one\n- two\n  and more", "<ul>\n<li>one</li>\n<li>two and more</li>\n</ul>"),
        ("1. one\n2. two", "<ol>\n<li>one</li>\n<li>two</li>\n</ol>"),
        ("```\n# no <heading>\n```\ntext", "<pre># no &lt;heading&gt;</pre>\n<p>text</p>"),
        ("```\nnot ended", "<pre>not ended</pre>"),
        ("[near](other.md) [far](https://x.org/a)", "<p>near far (https://x.org/a)</p>"),
        ("![gone](missing.png)", "<p>[gone]</p>"),
        ("![far](https://x.org/a.png)", "<p>[far]</p>"),
        ("text\n# Heading", "<p>text</p>\n<h1>Heading</h1>"),
    ],
)
def test_each_block_becomes_its_tag(tmp_path, markdown, wanted):
    assert body(markdown, tmp_path) == wanted


def test_tables_have_a_head(tmp_path):
    found = body("| a | b |\n| --- | --- |\n| -1 | - |\n", tmp_path)
    assert found == "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>-1</td><td>-</td></tr>\n</table>"


def test_pictures_are_within_the_page(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG picture")
    data = base64.b64encode(b"\x89PNG picture").decode()
    assert body('![a "title"](a.png)', tmp_path) == (
        f'<p><img alt="a &quot;title&quot;" src="data:image/png;base64,{data}"></p>'
    )


def test_titles_are_escaped(tmp_path):
    assert "<title>a &lt; b</title>" in page("a < b", "", tmp_path)

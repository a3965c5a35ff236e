"""What the tests of the pages share: a server, a Chromium, and somebody in front of it.

A file whose pages need runs or studies has a `server` of its own.
"""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    from browsing import Server

    made = Server(tmp_path_factory.mktemp("web"))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser():
    from browsing import open_browser

    made = open_browser()
    yield made
    made.quit()


@pytest.fixture
def visitor(browser, server):
    from browsing import Visitor

    browser.delete_all_cookies()
    browser.get("about:blank")
    browser.get_log("browser")  # an old page may have missed its server
    return Visitor(browser, server)

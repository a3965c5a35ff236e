"""Child processes that are talked to in lines."""

from __future__ import annotations

import gc
import os
import sys
import time

import pytest

from arena.scripted import is_there
from rookery.arena.process import CHUNK, LONGEST_LINE, MOST_OUTPUT, Child, ProcessFailed


def python(code: str) -> Child:
    """Start a child that runs some code; `out` writes bytes."""
    return Child([sys.executable, "-c", f"import os, sys, time\nout = lambda data: os.write(1, data)\n{code}"])


def soon(seconds: float = 20.0) -> float:
    """Return the time until which a child on a busy machine may take for what it does at once."""
    return time.monotonic() + seconds


def test_lines_end_in_any_way_and_empty_ones_are_skipped():
    child = python(r"out(b'one\ntwo\r\n\r\n  \nthree\rfour \xff\n last')")
    assert [child.line(soon()) for _ in range(5)] == ["one", "two", "three", "four \ufffd", "last"]
    with pytest.raises(ProcessFailed, match="it has ended with exit status 0"):
        child.line(soon())
    child.end()


def test_lines_of_blanks_that_only_text_knows_are_skipped():
    child = python(r"out(b'one\n\xc2\xa0\n\x1c\n \xe2\x80\xa8 \ntwo\n\xc2\xa0')")
    assert [child.line(soon()) for _ in range(2)] == ["one", "two"]
    with pytest.raises(ProcessFailed, match="it has ended with exit status 0"):
        child.line(soon())
    child.end()


def test_a_line_that_does_not_come_is_not_waited_for():
    child = python("time.sleep(100)")
    begun = time.monotonic()
    assert child.line(begun + 0.1) is None
    assert time.monotonic() - begun < 10
    assert child.line(begun) is None
    child.end()


def test_what_is_sent_is_answered():
    child = python("for line in sys.stdin: out(line.upper().encode())")
    for word in ("first", "second"):
        child.send(word, 5)
        assert child.line(soon()) == word.upper()
    child.end()


def test_a_child_that_does_not_read_is_found_out():
    child = python("time.sleep(100)")
    with pytest.raises(ProcessFailed, match=r"it has not read its input for 0\.2 s"):
        child.send("x" * 10_000_000, 0.2)
    child.end()


def test_a_child_that_has_ended_takes_no_input():
    child = python("sys.exit(7)")
    assert "exit status 7" in child.wait_for_end(20)
    with pytest.raises(ProcessFailed, match="it has ended with exit status 7"):
        child.send("hello", 1)
    child.end()


def test_the_longest_line_is_read_and_a_longer_one_is_a_flood():
    child = python(f"out(b'x' * {LONGEST_LINE}); out(b'\\n'); out(b'y' * {2 * LONGEST_LINE}); time.sleep(100)")
    assert child.line(soon()) == "x" * LONGEST_LINE
    with pytest.raises(ProcessFailed, match="it floods: more than 65,536 bytes without the end of a line"):
        child.line(soon())
    child.end()


@pytest.mark.slow
def test_a_flood_of_lines_is_kept_out_of_memory_and_ended():
    child, kept = python("while True: out(b'la ' * 30 + b'\\n')"), []

    def read_on() -> None:
        while child.line(soon()):
            if len(child.lines) % 100 == 0:
                kept.append(sum(map(len, child.lines)) + len(child.rest))

    with pytest.raises(ProcessFailed, match=f"it floods: more than {MOST_OUTPUT:,} bytes for one answer"):
        read_on()
    assert 0 < max(kept) < 2 * CHUNK
    child.end()


def test_a_flood_is_counted_anew_for_each_answer():
    child = python("for line in sys.stdin: out((b'x' * 1000 + b'\\n') * 1000)")
    for _ in range(20):  # 20 MB in all
        child.send("go", 5)
        assert all(child.line(soon()) for _ in range(1000))
    child.end()


def test_standard_error_is_read_along_and_its_end_is_told():
    child = python("os.write(2, b'x' * 1_000_000 + b'\\nat last\\n'); out(b'done\\n'); time.sleep(100)")
    assert child.line(soon()) == "done"
    assert len(child.last_errors) <= 2048
    assert child.account().startswith("last lines: done; standard error: ")
    assert child.account().endswith("| at last")
    child.end()


def test_a_child_leads_a_group_of_its_own_and_is_gone_in_the_end():
    child = python("sys.stdin.readline()")
    pid = child.pid
    assert os.getpgid(pid) == pid
    child.end("quit")
    assert not is_there(pid)
    child.end("quit")


def test_a_forgotten_child_is_gone():
    child = python("time.sleep(100)")
    pid = child.pid
    del child
    gc.collect()
    assert not is_there(pid)


def test_a_polite_child_is_given_the_time_to_end(tmp_path):
    child = python(f"sys.stdin.readline(); time.sleep(0.2); open({str(tmp_path / 'done')!r}, 'w').close()")
    child.end("quit")
    assert (tmp_path / "done").exists()

"""A child process that is talked to in lines: every read and write has a time limit, every buffer an end.

Nothing is read ahead. While nobody waits for a line, a child that writes without pause fills its pipe and stands still;
while somebody waits, its lines are handed on one by one and counted. So a child can neither fill memory nor make its
reader wait for longer than it wants to.

A child leads a process group of its own: an interrupt in the terminal does not reach it, and its end is the end of all
processes it has started.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Sequence

LONGEST_LINE = 1 << 16
MOST_OUTPUT = 1 << 24
"""bytes a child may write in answer to what it was sent last"""
CHUNK = 1 << 16
REMEMBERED = 8  # lines of output that are told when something goes wrong
SHOWN = 200  # characters of each of them
ERRORS_KEPT = 2048  # bytes of standard error
ERRORS_READ = 16  # reads of standard error before it is told
FAREWELL = 1.0  # seconds between the farewell and the kill
LINE_END = re.compile(rb"[\r\n]")


class ProcessFailed(Exception):
    """The child cannot be talked to any more; the message says why."""


def text_of(line: bytes) -> str:
    """Return a line as text without the blanks around it, of whatever kind: a no-break space alone is an empty line."""
    return line.decode(errors="replace").strip()


class Child:
    """A running child process."""

    def __init__(self, command: Sequence[str]):
        try:
            self.process = subprocess.Popen(
                list(command),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ProcessFailed(f"it cannot be started: {error.strerror or error}") from None
        streams = (self.process.stdin, self.process.stdout, self.process.stderr)
        self.input, self.output, self.errors = (stream.fileno() for stream in streams if stream)
        for number in (self.input, self.output, self.errors):
            os.set_blocking(number, False)
        self.lines: deque[str] = deque()  # whole lines not handed on yet, at most those of one read
        self.rest = b""
        self.received = 0
        self.last_lines: deque[str] = deque(maxlen=REMEMBERED)
        self.last_errors = b""
        self.open = {self.output, self.errors}
        self.kill = weakref.finalize(self, kill_group, self.process)  # also when forgotten, and when Python ends

    @property
    def pid(self) -> int:
        """The number of the process, which is that of its group too."""
        return self.process.pid

    # -- talking --

    def send(self, text: str, seconds: float, end: str = "\n") -> None:
        """Write a line, or fail if the child does not take it in time."""
        data, until = (text + end).encode(), time.monotonic() + seconds
        self.received = 0
        while data:
            try:
                data = data[os.write(self.input, data) :]
            except BlockingIOError:
                if not self.wait_to_write(until):
                    raise ProcessFailed(f"it has not read its input for {seconds:g} s") from None
            except OSError:
                raise ProcessFailed(self.how_it_ended()) from None

    def wait_to_write(self, until: float) -> bool:
        """Wait until the child takes more input; return False when the time is up."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.input, selectors.EVENT_WRITE)
            return bool(selector.select(max(0.0, until - time.monotonic())))

    def line(self, until: float) -> str | None:
        """Return the next line that is not empty, without its end; None if none has come by then (monotonic time)."""
        while True:
            if self.lines:
                return self.remember(self.lines.popleft())
            if self.output not in self.open:
                raise ProcessFailed(self.how_it_ended())
            left = until - time.monotonic()
            self.receive(max(0.0, left))
            if left <= 0 and not self.lines:
                return None

    def remember(self, line: str) -> str:
        """Keep a line for the case that something goes wrong, and return it."""
        self.last_lines.append(line[:SHOWN])
        return line

    def receive(self, seconds: float) -> None:
        """Take what the child has written, waiting for it if there is nothing."""
        with selectors.DefaultSelector() as selector:
            for number in self.open:
                selector.register(number, selectors.EVENT_READ)
            ready = [int(key.fd) for key, _ in selector.select(seconds)]
        for number in ready:
            self.take(number)

    def take(self, number: int) -> None:
        """Read once from standard output or standard error."""
        try:
            data = os.read(number, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.open.discard(number)
            if number == self.output and text_of(self.rest):
                self.lines.append(text_of(self.rest))  # the last line of a child that has ended may lack its end
        elif number == self.errors:
            self.last_errors = (self.last_errors + data)[-ERRORS_KEPT:]
        else:
            self.received += len(data)
            *whole, self.rest = LINE_END.split(self.rest + data)
            self.lines.extend(text for line in whole if (text := text_of(line)))
            self.refuse_floods()

    def refuse_floods(self) -> None:
        """Fail when the child writes more than anybody would read."""
        if len(self.rest) > LONGEST_LINE:
            self.remember(text_of(self.rest))
            raise ProcessFailed(f"it floods: more than {LONGEST_LINE:,} bytes without the end of a line")
        if self.received > MOST_OUTPUT:
            raise ProcessFailed(f"it floods: more than {MOST_OUTPUT:,} bytes for one answer")

    # -- ending --

    def how_it_ended(self) -> str:
        """Say why no more can be read or written."""
        return self.wait_for_end(0.5) or "it has closed its input or output, but goes on running"

    def wait_for_end(self, seconds: float) -> str:
        """Wait for the child to end and say how it did; nothing if it goes on running.

        The child is left to be waited for again: as long as it is, no other process gets its number.
        """
        until = time.monotonic() + seconds
        while True:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended:
                kind = "exit status" if ended.si_code == os.CLD_EXITED else "signal"
                return f"it has ended with {kind} {ended.si_status}"
            if time.monotonic() >= until:
                return ""
            time.sleep(0.005)

    def end(self, farewell: str = "", end: str = "\n") -> None:
        """Ask the child to end, kill whatever is left of its group a second later, and wait for it."""
        if farewell and self.kill.alive:
            try:
                self.send(farewell, FAREWELL, end)
                self.wait_for_end(FAREWELL)
            except ProcessFailed:
                pass  # it is gone, or hears nothing: either way it is killed now
        self.kill()

    def account(self) -> str:
        """Tell the last lines the child wrote, for an error; to be asked before it is killed."""
        for _ in range(ERRORS_READ):  # not for ever: it may write without pause
            if self.errors in self.open:
                self.take(self.errors)
        written = " | ".join(self.last_lines) or "none"
        errors = " | ".join(self.last_errors.decode(errors="replace").splitlines()[-REMEMBERED:])
        return f"last lines: {written}" + (f"; standard error: {errors}" if errors else "")


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all of its group, wait for it and close its pipes."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()  # the group is not there yet or no more; the process itself is
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()

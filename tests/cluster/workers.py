"""Workers for tests of a crew; those who do the work must be able to import them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from rookery.errors import BadInput


class Squares:
    """Squares numbers, slowly, and says which process did it."""

    def __call__(self, number: int) -> tuple[int, int]:
        time.sleep(0.1)
        return number * number, os.getpid()


class Refuses:
    """Refuses a number."""

    def __call__(self, number: int) -> int:
        if number == 3:
            raise BadInput("3 is not allowed")
        return number


class Dies:
    """Ends its process over a number: always, or the first time, for which it leaves a mark in a folder."""

    def __init__(self, folder: str, always: bool):
        self.mark, self.always = Path(folder) / "died", always

    def __call__(self, number: int) -> int:
        if number == 2 and (self.always or not self.mark.exists()):
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

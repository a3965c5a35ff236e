"""What processes hold while they run for long: samples, their trend, and a plot."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rookery.studies.intervals import Estimate, student

BLOCKS = 24
"""neighbouring samples are alike, so a trend is sought in the means of so many blocks"""
WARM_UP = 1 / 6
"""share of the time that is not looked at: caches and rings fill"""


@dataclass(frozen=True)
class Sample:
    """What a process holds at one moment."""

    seconds: float
    mebibytes: float
    files: int
    threads: int


FIELDS = {"mebibytes": "resident memory, MiB", "files": "open files", "threads": "threads"}


def sample_of(process: int, seconds: float) -> Sample:
    """Look at a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    files = len(os.listdir(f"/proc/{process}/fd"))
    return Sample(seconds, int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"]))


@dataclass
class Watched:
    """A process and what it held at all times."""

    name: str
    process: int
    begun: float = field(default_factory=time.monotonic)
    samples: list[Sample] = field(default_factory=list)
    warm_up: float = WARM_UP

    def look(self) -> None:
        """Take a sample."""
        self.samples.append(sample_of(self.process, time.monotonic() - self.begun))

    def column(self, name: str) -> np.ndarray:
        """Return one number of all samples."""
        return np.array([getattr(sample, name) for sample in self.samples], dtype=float)

    def after_warm_up(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return hours and one number, of the samples that count."""
        hours, values = self.column("seconds") / 3600, self.column(name)
        counts = hours >= hours[0] + self.warm_up * (hours[-1] - hours[0])
        return hours[counts], values[counts]

    def trend(self, name: str = "mebibytes") -> Estimate:
        """Estimate by how much a number grows in an hour."""
        return trend_of(*self.after_warm_up(name))

    def growth(self, name: str) -> float:
        """Return the most in the last quarter less the most in the quarter after the warm-up."""
        values = self.after_warm_up(name)[1]
        quarter = max(1, len(values) // 4)
        return float(values[-quarter:].max() - values[:quarter].max())

    def verdict(self) -> str:
        """Say in a line what was seen."""
        hours, memory = self.after_warm_up("mebibytes")
        found = self.trend()
        return (
            f"{self.name}: {memory.mean():.1f} MiB (from {memory.min():.1f} to {memory.max():.1f}) in {len(memory)} "
            f"samples over {60 * (hours[-1] - hours[0]):.1f} minutes after the warm-up, trend {found.mean:+.2f} MiB an "
            f"hour ({found.low:+.2f} to {found.high:+.2f}); open files at most {self.column('files').max():.0f}, "
            f"threads at most {self.column('threads').max():.0f}"
        )


def trend_of(hours: np.ndarray, values: np.ndarray) -> Estimate:
    """Fit a line through the means of blocks; return its slope with a 95 % interval."""
    count = min(BLOCKS, len(hours))
    x, y = (np.array([part.mean() for part in np.array_split(each, count)]) for each in (hours, values))
    away = x - x.mean()
    slope = float(away @ y / (away @ away))
    rest = y - y.mean() - slope * away
    half = student(count - 2) * float(np.sqrt(rest @ rest / (count - 2) / (away @ away)))
    return Estimate(slope, slope - half, slope + half, count)


def plot(path: Path, watched: list[Watched]) -> None:
    """Draw all samples; the warm-up is grey."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(watched), 6.5), layout="constrained")
    for row, (name, label) in enumerate(FIELDS.items()):
        for column, one in enumerate(watched):
            axes = figure.add_subplot(len(FIELDS), len(watched), row * len(watched) + column + 1)
            minutes, values = one.column("seconds") / 60, one.column(name)
            axes.axvspan(minutes[0], minutes[0] + one.warm_up * (minutes[-1] - minutes[0]), color="0.93")
            axes.plot(minutes, values, linewidth=1, color="#1F6F8B")
            axes.set_ylim(0, 1.15 * values.max())
            axes.set_ylabel(label)
            if row == 0:
                axes.set_title(one.name)
    for axes in figure.axes[-len(watched) :]:
        axes.set_xlabel("minutes")
    figure.savefig(path, dpi=110)


def write_table(path: Path, watched: list[Watched]) -> None:
    """Write all samples as comma-separated values."""
    lines = ["process,seconds,mebibytes,files,threads"]
    for one in watched:
        lines += [f"{one.name},{s.seconds:.1f},{s.mebibytes:.1f},{s.files},{s.threads}" for s in one.samples]
    path.write_text("\n".join(lines) + "\n")

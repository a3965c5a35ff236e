"""What a figure was measured on."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu_name() -> str:
    """Name the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def describe() -> dict[str, str | int]:
    """Describe the machine and the versions that matter for speed."""
    import numba
    import numpy

    from rookery.search.threads import cores

    return {
        "cpu": cpu_name(),
        "cores": cores(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
    }

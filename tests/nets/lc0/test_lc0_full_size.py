"""A network of the size of the largest published ones, filled at random."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lc0_files import BT4, random_net
from rookery.nets.lc0.schema import Encoding
from rookery.nets.lc0.wire import message_parts

LOADING = """
import json, re, sys, time
from pathlib import Path
import torch
from rookery.nets.lc0.stored import load_network

torch.set_num_threads(1)
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before, start, cpu = peak(), time.perf_counter(), time.process_time()
network = load_network(sys.argv[1])
seconds, cpu_seconds, taken = time.perf_counter() - start, time.process_time() - cpu, peak() - before
with torch.inference_mode():
    found = network.heads(torch.rand(1, 112, 8, 8))
print(json.dumps({
    "seconds": seconds, "cpu_seconds": cpu_seconds, "taken": taken, "weights": network.weights,
    "finite": bool(found.policy.isfinite().all()), "sum": float(found.chances.sum()),
}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_a_network_of_full_size_loads_quickly_in_little_memory_and_runs(tmp_path):
    net = random_net("attention, dense, several heads", encoding=Encoding.LINEAR16, sizes=BT4)
    path = tmp_path / "large.pb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.writelines(message_parts(net))
    done = subprocess.run([sys.executable, "-c", LOADING, str(path)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(found, path.stat().st_size)
    assert found["weights"] > 190_000_000
    assert found["cpu_seconds"] < 10
    assert found["taken"] < 3 * path.stat().st_size
    assert found["finite"]
    assert abs(found["sum"] - 1) < 1e-5

"""Peak memory of a default selection: from a Parquet file that is larger than the limit, and from an array.

    python benchmarks/memory.py [ROWS COLUMNS] [ROWS COLUMNS]

The first size is that of the file (default 10000000 100), the second that of the array (default 1000000
1000). Each is measured in a process of its own: the peak is what the system counts as resident.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from machine import describe

GROUP = 100_000


def write_file(path: Path, n: int, m: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(m)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n, GROUP):
            x = rng.normal(size=(min(GROUP, n - start), m))
            y = x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=len(x))
            arrays = [pa.array(column) for column in (*x.T, y)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def fit_file(path: str) -> None:
    from l1lsmi import L1LSMI

    report(lambda: L1LSMI(10, random_state=0, n_jobs=2).fit(path, "y"))


def fit_array(n: int, m: int) -> None:
    from l1lsmi import L1LSMI

    rng = np.random.default_rng(0)
    X = np.empty((n, m))
    for start in range(0, n, GROUP):
        rng.standard_normal(out=X[start : start + GROUP])
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    report(lambda: L1LSMI(20, random_state=0, n_jobs=2).fit(X, y))


def report(fit) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    selector = fit()
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chosen = np.flatnonzero(selector.support_)
    print(f"{seconds:.0f} s, peak {peak / 2**20:.2f} GiB, before the fit {before / 2**20:.2f} GiB")
    print(f"the three that matter are {'all' if np.isin([0, 1, 2], chosen).all() else 'not all'} chosen")


def in_a_process(*arguments: str) -> None:
    subprocess.run([sys.executable, __file__, *arguments], check=True)


def main(sizes: list[int]) -> None:
    (n, m), (rows, columns) = sizes[:2], sizes[2:4]
    print(describe(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write_file(path, n, m)
        print(f"\nParquet, {n} x {m}, {path.stat().st_size / 2**30:.2f} GiB on disk", flush=True)
        in_a_process("--file", str(path))
    print(f"\narray, {rows} x {columns}, {rows * columns * 8 / 2**30:.2f} GiB", flush=True)
    in_a_process("--array", str(rows), str(columns))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--file"]:
        fit_file(sys.argv[2])
    elif sys.argv[1:2] == ["--array"]:
        fit_array(int(sys.argv[2]), int(sys.argv[3]))
    else:
        given = [int(a) for a in sys.argv[1:]]
        main(given + [10_000_000, 100, 1_000_000, 1_000][len(given) :])

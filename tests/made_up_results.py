"""Results that nobody measured, in the files that the tables, figures and the page read."""

from __future__ import annotations

import json
import zlib
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.store import SCHEMA


def row(dataset, trial, method, value=None, **others):
    """One result; a value makes it done."""
    return {
        "experiment": "real",
        "dataset": dataset,
        "trial": trial,
        "method": method,
        "protocol": "paper",
        "k": 4,
        "status": "done",
        "reason": None,
        "metric": "error_rate",
        "value": value,
        "selected": [0, 1, 2, 3],
        "redundancy": 0.25,
        "n_train": 400,
        "n_test": 0,
        "C": 1.0,
        "sigma_factor": 1.0,
        "select_seconds": 2.0,
        "evaluate_seconds": 1.0,
        "seed": 0,
        "partial": False,
        **others,
    }


def trials(dataset, method, values, **others):
    return [row(dataset, trial, method, float(value), **others) for trial, value in enumerate(values)]


def skipped(rows, reason):
    """The same rows, had they not been run."""
    nothing = {"value": None, "selected": None, "redundancy": None, "select_seconds": None}
    return [old | nothing | {"status": "skipped", "reason": reason, "evaluate_seconds": None} for old in rows]


def jitter(*names, n, size):
    """Numbers around 0 that belong to the names."""
    rng = np.random.default_rng(zlib.crc32(" ".join(map(str, names)).encode()))
    return size * rng.standard_normal(n)


def write(directory, experiment, rows, record=None):
    directory.mkdir(parents=True, exist_ok=True)
    for item in rows:
        item["experiment"] = experiment
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), directory / f"{experiment}.parquet")
    if record is not None:
        (directory / f"{experiment}.json").write_text(json.dumps(record))


def subset_rows(n, lead=0.1):
    """All sets of four among columns 0 to 3 and 7 to 9, the true one ahead by the lead."""
    rows = []
    for subset in combinations((0, 1, 2, 3, 7, 8, 9), 4):
        value = 0.36 + (lead if subset == (0, 1, 2, 3) else 0.0)
        rows += trials("and_or", "smi", [value] * n, protocol="subset", metric="smi", selected=list(subset))
    return rows

"""``python -m fuzz --minutes 10``, or ``python -m fuzz --part fits --seed 17`` for one case again."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.runner import AGAIN, PARTS, attack, run_case


def main() -> int:
    """Run one case, or many."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--part", choices=[*PARTS, *AGAIN], help="the first three if not given")
    parser.add_argument("--seed", type=int, help="run this case alone")
    parser.add_argument("--first", type=int, help="the first seed; drawn if not given")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    options = parser.parse_args()
    parts = list(PARTS) if options.part is None else [options.part]
    if options.seed is None:
        first = time.time_ns() % 10**9 if options.first is None else options.first
        print(f"the first seed is {first}", flush=True)
        return int(bool(attack(parts, first, options.minutes, options.jobs)))
    failed = False
    with TemporaryDirectory() as folder:
        for part in parts:
            told, failure = run_case(part, options.seed, Path(folder))
            print(f"{part}: {told}\n  {failure or 'allowed'}")
            failed |= failure is not None
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""A whole default selection against permutation importance of a support vector machine.

That is the one cheap rival that is right on all three artificial problems. Both run on one core, in
turn, on the same draws.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from l1lsmi import L1LSMI, datasets
from l1lsmi.datasets.toys import TRUE_FEATURES
from machine import describe


def permutation(X, y, k: int, seed: int) -> set[int]:
    model = SVC() if y.dtype.kind == "i" else SVR()
    X = scale(X)
    importance = permutation_importance(model.fit(X, y), X, y, n_repeats=5, random_state=seed)
    return set(np.argsort(-importance.importances_mean)[:k].tolist())


def l1lsmi_selection(X, y, k: int, seed: int) -> set[int]:
    return set(L1LSMI(k, random_state=seed).fit(X, y).get_support(indices=True).tolist())


def toys(draws: int = 20) -> None:
    print(f"\nwhole selection, n = 400, one core, median of {draws} draws")
    print(f"{'problem':<8} {'L1LSMI':>16} {'permutation SVM':>18} {'ratio':>7}")
    for name, true in TRUE_FEATURES.items():
        seconds: dict[str, list[float]] = {"l1lsmi_selection": [], "permutation": []}
        right = dict.fromkeys(seconds, 0)
        for seed in range(3000, 3000 + draws):
            X, y = getattr(datasets, f"make_{name}")(400, random_state=seed)
            for rival in (l1lsmi_selection, permutation):
                started = time.perf_counter()
                chosen = rival(X, y, len(true), seed)
                seconds[rival.__name__].append(time.perf_counter() - started)
                right[rival.__name__] += chosen == set(true)
        ours, theirs = (np.median(seconds[rival]) for rival in seconds)
        cells = [f"{np.median(seconds[r]):.3f} s ({right[r]}/{draws})" for r in seconds]
        print(f"{name:<8} {cells[0]:>16} {cells[1]:>18} {ours / theirs:7.2f}", flush=True)


def importing(repeats: int = 7) -> None:
    needed = "import sklearn.base, sklearn.feature_selection, sklearn.utils.validation"
    shortest = dict.fromkeys((needed, "import l1lsmi"), np.inf)
    for _ in range(repeats):
        for statement in shortest:
            code = f"from time import perf_counter as now; t = now(); {statement}; print(now() - t)"
            seconds = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
            shortest[statement] = min(shortest[statement], float(seconds))
    theirs, ours = shortest.values()
    print(f"\nimport l1lsmi                       {ours:.2f} s")
    print(f"the parts of scikit-learn it needs  {theirs:.2f} s, ratio {ours / theirs:.2f}")


def main() -> None:
    print(describe())
    warnings.simplefilter("error")
    importing()
    with threadpool_limits(1):
        toys()


if __name__ == "__main__":
    main()

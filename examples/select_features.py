"""Select features of a data set of scikit-learn, and evaluate them on held-out rows.

Run it as ``make select``, or ``make select DATA=digits K=10``; K=auto chooses the number of features.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.base import is_classifier
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from l1lsmi import L1LSMI

LOADERS = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
SPLITS = 5


def held_out_scores(model, k: int, X, y) -> dict[str, np.ndarray]:
    """Scores of a model on held-out rows, for three sets of features."""
    relevance = f_classif if is_classifier(model) else f_regression
    # scikit-learn warns of constant pixels and divides by their variance.
    warnings.filterwarnings("ignore", module="sklearn.feature_selection")
    task = "classification" if is_classifier(model) else "regression"
    scores: dict[str, list[float]] = {"L1LSMI": [], "Pearson": [], "all features": []}
    for seed in range(SPLITS):
        stratify = y if is_classifier(model) else None
        parts = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=stratify)
        X_train, X_test, y_train, y_test = parts
        choices = {
            "L1LSMI": L1LSMI(k, task=task, random_state=seed),
            "Pearson": SelectKBest(relevance, k=k),
            "all features": "passthrough",
        }
        for name, selector in choices.items():
            pipeline = make_pipeline(selector, StandardScaler(), model)
            scores[name].append(pipeline.fit(X_train, y_train).score(X_test, y_test))
    return {name: np.array(values) for name, values in scores.items()}


def main() -> None:
    """Select features on all rows, then compare on held-out rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=LOADERS, default="diabetes")
    parser.add_argument("-k", default="5", help='number of features (default: 5), or "auto"')
    options = parser.parse_args()
    if options.k != "auto" and not options.k.isdecimal():
        parser.error(f'-k {options.k} is not a number of features: pass a whole number, or "auto".')
    bunch = LOADERS[options.data]()
    X, y = bunch.data, bunch.target
    names = np.asarray(bunch.feature_names)
    classes = hasattr(bunch, "target_names")
    task = "classification" if classes else "regression"

    started = time.perf_counter()
    k = "auto" if options.k == "auto" else int(options.k)
    selector = L1LSMI(k, task=task, random_state=0).fit(X, y)
    k = int(selector.support_.sum())
    seconds = time.perf_counter() - started
    print(f"{options.data}: {X.shape[0]} rows, {X.shape[1]} features, {task}")
    print(f"\nselected {k} features in {seconds:.2f} s, SMI estimate {selector.smi_:.3f}")
    for j in np.flatnonzero(selector.support_)[np.argsort(-selector.weights_[selector.support_])]:
        print(f"  {names[j]:<28} weight {selector.weights_[j]:.3f}")
    print(f"  {selector.stop_reason_}")

    model = SVC() if classes else SVR(C=100.0)
    metric = "accuracy" if classes else "R2"
    print(f"\n{metric} of an RBF support vector machine on held-out rows, mean of {SPLITS} splits")
    for name, scores in held_out_scores(model, k, X, y).items():
        count = X.shape[1] if name == "all features" else k
        print(f"  {name:<14} {count:>4} features  {scores.mean():.3f} +- {scores.std():.3f}")


if __name__ == "__main__":
    main()

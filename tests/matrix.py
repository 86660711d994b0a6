"""Every measure, every strategy, every selector, in one list: what the tests go through."""

from sklearn.base import clone

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, baselines
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking

MEASURES = {
    "Pearson": Pearson(),
    "HSIC": HSIC(),
    "MutualInformation": MutualInformation(n_basis=20, sigma_factors=(0.5, 1.0)),
    "SquaredMutualInformation": SquaredMutualInformation(n_basis=30),
}
STRATEGIES = {
    "Ranking": Ranking(),
    "Forward": Forward(),
    "Backward": Backward(),
    "Exhaustive": Exhaustive(),
    "L1Path": L1Path(),
    "L1Paper": L1Paper(n_restarts=2, max_iter=10),
}
SELECTORS = {
    "L1LSMI": L1LSMI(random_state=0),
    "L1LSMI, paper": L1LSMI(1, algorithm="paper", n_restarts=1, max_iter=3, n_basis=20, random_state=0),
    "L1HSIC": L1HSIC(random_state=0),
    "FeatureSelector": FeatureSelector(random_state=0),
    "FeatureSelector, ranking": FeatureSelector(Pearson(), Ranking()),
    "FeatureSelector, forward": FeatureSelector(HSIC(), Forward()),
    "FeatureSelector, backward": FeatureSelector(
        SquaredMutualInformation(n_basis=10, cv=2, sigmas=(), random_state=0), Backward()
    ),
    "FeatureSelector, exhaustive": FeatureSelector(HSIC(), Exhaustive(), 1),
    "MRMR": baselines.MRMR(),
    "MRMR, quotient": baselines.MRMR(scheme="quotient", relevance="f"),
    "QPFS": baselines.QPFS(),
    "LassoK": baselines.LassoK(),
    "ReliefF": baselines.ReliefF(),
    "ReliefF, all": baselines.ReliefF(n_neighbors="all"),
    "SPEC": baselines.SPEC(),
    "SPEC, unsupervised": baselines.SPEC(graph="unsupervised"),
    "LaplacianScore": baselines.LaplacianScore(),
    "LaplacianScore, unsupervised": baselines.LaplacianScore(graph="unsupervised"),
}
#: One of each class.
CLASSES = {name: selector for name, selector in SELECTORS.items() if "," not in name}


def combine(measure: str, strategy: str, k, **parameters) -> FeatureSelector:
    return FeatureSelector(clone(MEASURES[measure]), clone(STRATEGIES[strategy]), k, **parameters)

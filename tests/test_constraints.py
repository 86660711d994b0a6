"""Constraints on the selected set: never violated, the best allowed set, and clear errors."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._rows.table import Table
from l1lsmi._validation.features import check_xy
from l1lsmi.datasets import make_and_or, make_quad, make_xor
from l1lsmi.measures import HSIC, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking, Strategy
from l1lsmi.strategies import _constrained_weighting as weighting
from l1lsmi.strategies._units import Units

STRATEGIES = {
    "Ranking": Ranking,
    "Forward": Forward,
    "Backward": Backward,
    "Exhaustive": Exhaustive,
    "L1Path": lambda: L1Path(n_restarts=1),
    "L1Paper": lambda: L1Paper(n_restarts=1, max_iter=5, max_doublings=4, max_halvings=3),
}


def data(n=60, m=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=n)


def count(support, parameters):
    """Check a set against the parameters it was selected under; the number that k counts."""
    include, exclude = parameters.get("must_include", []), parameters.get("must_exclude", [])
    assert support[list(include)].all() and not support[list(exclude)].any()
    n = int(support.sum())
    groups = parameters.get("feature_groups")
    most = parameters.get("max_per_group")
    if groups is not None:
        counts = [int(support[np.equal(groups, g)].sum()) for g in sorted(set(groups))]
        sizes = [groups.count(g) for g in sorted(set(groups))]
        if most is None:
            assert all(c in (0, size) for c, size in zip(counts, sizes, strict=True))
            n = sum(c > 0 for c in counts)
        else:
            assert max(counts) <= most
    if "budget" in parameters:
        assert support @ np.array(parameters["costs"]) <= parameters["budget"] + 1e-9
    return n


def check_allowed(selector, parameters, k):
    n = count(selector.support_, parameters)
    if isinstance(k, int):
        assert n == k
    if selector.order_sizes_ is None:
        return
    assert np.unique(selector.order_).size == selector.order_.size
    for j, size in enumerate(selector.order_sizes_):
        if size < 0:
            with pytest.raises(ValueError, match=f"k={j} must be"):
                selector.support_for(j)
        else:
            assert count(selector.support_for(j), parameters) == j
    if isinstance(k, int) and "budget" not in parameters:
        assert (selector.support_for(k) == selector.support_).all()
    others = selector.ranking_[~selector.support_]
    assert sorted(others) == list(range(2, others.size + 2))


@st.composite
def cases(draw):
    m = draw(st.integers(1, 7))
    seed = draw(st.integers(0, 10_000))
    roles = draw(st.lists(st.sampled_from("-----+x"), min_size=m, max_size=m))
    parameters = {}
    if "+" in roles:
        parameters["must_include"] = [j for j, role in enumerate(roles) if role == "+"]
    if "x" in roles:
        parameters["must_exclude"] = [j for j, role in enumerate(roles) if role == "x"]
    if draw(st.booleans()):
        parameters["feature_groups"] = draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))
        if draw(st.booleans()):
            parameters["max_per_group"] = draw(st.integers(1, 3))
    k = draw(st.integers(1, m))
    if draw(st.integers(0, 2)) == 0:
        costs = st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.5])
        parameters["costs"] = draw(st.lists(costs, min_size=m, max_size=m))
        parameters["budget"] = draw(st.sampled_from([0.3, 0.6, 1.3, 3.0]))
        k = None
    return m, seed, parameters, k, draw(st.booleans()), draw(st.integers(0, 2))


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_constraints_are_never_violated(name, case):
    m, seed, parameters, k, with_constant, n_covariates = case
    X, y = np.random.default_rng(seed).normal(size=(20, m)), np.arange(20) % 3 > 1
    if with_constant:
        X[:, seed % m] = 1.0
    Z = np.random.default_rng(seed + 1).normal(size=(20, n_covariates)) if n_covariates else None
    selector = FeatureSelector(
        HSIC(), STRATEGIES[name](), k, p_value=False, pool=None, random_state=0, **parameters
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            selector.fit(X, y, covariates=Z)
        except ValueError:  # no set is allowed: see below
            return
    check_allowed(selector, parameters, k)
    assert selector.n_covariates_ == n_covariates
    if hasattr(selector, "weights_"):
        assert selector.weights_.shape == (m,) and not selector.weights_[~selector.support_].any()


def toys():
    yield "and_or", make_and_or(200, random_state=0)
    yield "xor", make_xor(200, random_state=0)
    yield "quad", make_quad(200, random_state=0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    yield "made", (X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + 0.5 * X[:, 3] + 0.3 * rng.normal(size=200))


def constraint_sets(m):
    yield "include", Constraints.of(m, forced=[4, 5]), 4
    yield "exclude", Constraints.of(m, [[j] for j in range(m) if j not in (1, 6)]), 3
    yield "groups", Constraints.of(m, [[0, 4], [1, 5], [2], [3, 6], *([j] for j in range(7, m))]), 3
    limits = {"group_of": np.arange(m) % 3, "most_of": np.array([1, 2, 1])}
    yield "limits", Constraints.of(m, **limits), 3
    yield "budget", Constraints.of(m, costs=np.linspace(0.5, 2.0, m), budget=3.0), m


@pytest.mark.parametrize("few", [True, False])
def test_the_best_allowed_set_is_that_of_exhaustive_search(few, monkeypatch):
    if not few:
        monkeypatch.setattr(weighting, "ENUMERATED", 0)
    for toy, (X, y) in toys():
        X, target = check_xy(X, y, "auto")
        problem = HSIC().bind(Table.of(X), target, 0)
        for name, constraints, k in constraint_sets(X.shape[1]):
            k = min(k, constraints.max_size)
            best = Exhaustive().search(problem, k, constraints=constraints)
            found = L1Path().search(problem, k, constraints=constraints)
            assert problem.score_set(np.flatnonzero(found.support)) == pytest.approx(best.score), (toy, name)


def test_the_best_allowed_set_by_leave_one_out_losses():
    X, y = make_and_or(100, random_state=1)
    checked, target = check_xy(X, y, "auto")
    problem = SquaredMutualInformation().bind(Table.of(checked), target, 0)
    for name, constraints, k in constraint_sets(10):
        k = min(k, 3)
        units, scorer = Units(problem, constraints), problem.set_scorer(0)
        sets = constraints.allowed_sets(k, units.alive)
        keys = [tuple(int(j) for j in units.columns_of(inside)) for inside in sets]
        losses = {key: found.loss for key, found in zip(keys, scorer.score_sets(keys), strict=True)}
        found = L1Path().search(problem, k, constraints=constraints)
        assert losses[tuple(np.flatnonzero(found.support).tolist())] <= 1.001 * min(losses.values()), name


@pytest.mark.parametrize("name", STRATEGIES)
def test_names_indices_and_masks_mean_the_same(name):
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    make = STRATEGIES[name]
    mask = np.zeros(6, dtype=bool)
    mask[[2, 4]] = True
    answers = [
        FeatureSelector(HSIC(), make(), 3, must_include=given, must_exclude=out, random_state=0)
        .fit(frame, y)
        .support_.tolist()
        for given, out in [(["c", "e"], ["b"]), ([4, 2], np.array([1])), (mask, ~mask & (np.arange(6) == 1))]
    ]
    assert answers[0] == answers[1] == answers[2]
    assert np.array(answers[0])[[2, 4]].all() and not answers[0][1]


def test_groups_by_labels_and_by_names_mean_the_same():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = ["u", "u", "v", "v", None, None]
    one = L1HSIC(2, feature_groups=labels, random_state=0).fit(frame, y)
    other = L1HSIC(2, feature_groups={"u": ["a", "b"], "v": [2, 3]}, random_state=0).fit(frame, y)
    assert (one.support_ == other.support_).all()
    assert one.support_[0] and one.support_[1]  # the product of the two


def test_no_constraints_is_the_same_as_before():
    X, y = data()
    plain = L1LSMI(2, random_state=0).fit(X, y)
    trivial = L1LSMI(2, must_exclude=[], feature_groups=range(6), costs=None, random_state=0).fit(X, y)
    assert plain.order_sizes_ is None and trivial.order_sizes_ is None
    assert (plain.weights_ == trivial.weights_).all() and (plain.order_ == trivial.order_).all()


def test_a_budget_in_place_of_a_number():
    X, y = make_and_or(120, random_state=0)
    costs = {7: 5.0, 8: 5.0, 9: 5.0}
    cheap = L1LSMI(costs=costs, budget=4, random_state=0).fit(X, y)
    assert cheap.get_support(indices=True).tolist() == [0, 1, 2, 3]
    rich = L1LSMI("auto", costs=costs, budget=9, n_restarts=1, random_state=0, p_value=False).fit(X, y)
    assert rich.support_ @ np.array([1.0] * 7 + [5.0] * 3) <= 9


@pytest.mark.parametrize("name", ["Forward", "L1Path", "Backward"])
def test_the_number_can_be_chosen(name):
    X, y = data(120)
    groups = [0, 0, 1, 2, 3, 3]
    parameters = {"must_include": [4], "feature_groups": groups}
    selector = FeatureSelector(HSIC(), STRATEGIES[name](), "auto", random_state=0, **parameters).fit(X, y)
    check_allowed(selector, parameters, "auto")
    assert selector.support_[[4, 5]].all() and selector.validation_.k.tolist()[:3] == [0, 1, 2]


def test_no_evidence_leaves_the_must_includes():
    X = np.random.default_rng(0).normal(size=(60, 5))
    y = np.random.default_rng(1).normal(size=60)
    with pytest.warns(UserWarning, match="There is no evidence that the selected features predict y"):
        selector = L1LSMI("auto", must_include=[3], random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3]


@pytest.mark.parametrize("pool", ["auto", 4])
def test_pools_keep_to_constraints(pool):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 120))
    y = X[:, 5] + X[:, 60] + 0.1 * rng.normal(size=40)
    groups = np.arange(120) // 2
    parameters = {"must_include": [100], "must_exclude": [5], "feature_groups": [*groups], "max_per_group": 1}
    selector = L1HSIC(3, pool=pool, random_state=0, **parameters).fit(X, y)
    check_allowed(selector, parameters, 3)
    assert selector.support_[60]


def test_constraints_hold_for_blocks():
    X, y = data(200)
    groups = {"a": [0, 1], "b": [2, 3]}
    given = {"feature_groups": groups, "must_exclude": [5], "random_state": 0}
    here = L1LSMI(2, **given).fit(X, y)
    there = L1LSMI(2, memory_limit=10**5, explore_rows=150, **given)
    there.fit(lambda: iter([(X[:90], y[:90]), (X[90:], y[90:])]))
    assert (here.support_ == there.support_).all() and here.support_[[0, 1]].all()


def test_a_time_limit_leaves_an_allowed_set():
    X, y = data(200, 12)
    for make in (Ranking, Forward, Backward, Exhaustive, L1Path, L1Paper):
        parameters = {"must_include": [11], "feature_groups": [*np.arange(12) // 2]}
        strategy = make(time_limit=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = FeatureSelector(HSIC(), strategy, 3, random_state=0, **parameters).fit(X, y)
        check_allowed(selector, parameters, 3)


BAD = {
    "unknown name": ({"must_include": ["zz"]}, "must_include names 'zz', but X has no such column"),
    "unknown name out": ({"must_exclude": ["zz"]}, "must_exclude names 'zz', but X has no such column"),
    "index": ({"must_include": [6]}, "must_include has index 6, but X has 6 features"),
    "negative index": ({"must_include": [-1]}, "must_include has index -1"),
    "fraction": ({"must_include": [0.5]}, "must_include has 0.5, which is not a name or index"),
    "mask": ({"must_include": [True, False]}, "must_include is a mask of length 2, but X has 6"),
    "both": ({"must_include": ["a"], "must_exclude": [0]}, "must_include and must_exclude both name 'a'"),
    "both of a group": (
        {"must_include": [0], "must_exclude": [1], "feature_groups": [0, 0, 1, 1, 2, 2]},
        "must_include and must_exclude both have columns of the group 0",
    ),
    "everything out": ({"must_exclude": range(6)}, "must_exclude leaves no features"),
    "too many": ({"must_include": [0, 1, 2]}, "n_features_to_select=2 is less than the 3 features"),
    "too many groups": (
        {"must_include": [0, 2, 4], "feature_groups": [0, 0, 1, 1, 2, 2]},
        "n_features_to_select=2 is less than the 3 groups of must_include",
    ),
    "too few": ({"must_exclude": [0, 1, 2, 3, 4]}, "n_features_to_select=2 is more than the 1 features"),
    "labels": ({"feature_groups": [0, 1]}, "feature_groups has 2 labels, but X has 6 features"),
    "in two groups": ({"feature_groups": {"u": [0, 1], "v": ["a"]}}, "'a' in the groups 'u' and 'v'"),
    "name in a group": ({"feature_groups": {"u": ["zz"]}}, "names 'zz', but X has no such column"),
    "no groups": ({"max_per_group": 1}, "max_per_group=1 is given, but feature_groups is None"),
    "group": (
        {"max_per_group": {"w": 1}, "feature_groups": {"u": [0]}},
        "max_per_group names 'w', but feature_groups has no such group",
    ),
    "limit": (
        {"max_per_group": {"u": 0}, "feature_groups": {"u": [0]}},
        "max_per_group has 0 for the group 'u': pass a whole number of at least 1",
    ),
    "over the limit": (
        {"max_per_group": 1, "feature_groups": {"u": [0, 1]}, "must_include": [0, 1]},
        "must_include has 2 columns of the group 'u', but max_per_group allows 1",
    ),
    "both k and budget": ({"budget": 3}, "budget=3 and n_features_to_select=2 are both given: pass one."),
    "costs alone": ({"costs": np.ones(6)}, "costs is given, but budget is None"),
}
BAD_COSTS = {
    "length": ({"costs": [1, 2], "budget": 3}, r"costs has shape \(2,\), but X has 6 features"),
    "negative": ({"costs": {"b": -1}, "budget": 3}, "costs has -1.0 for 'b': pass a positive number"),
    "missing": ({"costs": [1, 2, None, 1, 1, 1], "budget": 3}, "costs has nan for 'c'"),
    "text": ({"costs": [*"abcdef"], "budget": 3}, "costs must be positive numbers"),
    "unknown": ({"costs": {"zz": 1}, "budget": 3}, "costs names 'zz', but X has no such column"),
    "too dear": (
        {"costs": {"b": 7}, "budget": 3, "must_include": ["b"]},
        "budget=3 is less than 7, the cost of must_include",
    ),
    "all too dear": ({"budget": 0.5}, "budget=0.5 is less than 1, the cost of the cheapest feature"),
}


@pytest.mark.parametrize("case", [*BAD, *BAD_COSTS])
def test_bad_constraints_get_one_sentence(case):
    X, y = data()
    parameters, words = {**BAD, **BAD_COSTS}[case]
    k = 2 if case in BAD else None
    with pytest.raises(ValueError, match=words) as error:
        L1LSMI(k, **parameters).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_names_need_names():
    X, y = data()
    with pytest.raises(ValueError, match="must_include names 'a', but X has no column names: pass indices"):
        L1LSMI(2, must_include=["a"]).fit(X, y)


def test_only_constant_features_are_allowed():
    X, y = data()
    X[:, 3] = 1.0
    with pytest.raises(
        ValueError, match="only constant columns among the features that the constraints allow"
    ):
        L1LSMI(1, must_exclude=[0, 1, 2, 4, 5]).fit(X, y)


@pytest.mark.parametrize("name", STRATEGIES)
def test_constant_features_can_be_must_includes(name):
    X, y = data()
    X[:, 3] = 1.0
    for k, parameters in [(1, {}), (2, {}), (None, {"budget": 1}), (None, {"budget": 2})]:
        selector = FeatureSelector(
            HSIC(), STRATEGIES[name](), k, must_include=[3], random_state=0, **parameters
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(X, y)
        assert selector.support_[3] and selector.support_.sum() <= (k or parameters["budget"])


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_a_constant_feature_can_be_paid_for(name):
    X, y = data()
    X[:, 3] = 1.0
    costs = [2.0, 2.0, 2.0, 1.0, 2.0, 2.0]
    selector = FeatureSelector(HSIC(), STRATEGIES[name](), costs=costs, budget=1.5, random_state=0)
    assert selector.fit(X, y).get_support(indices=True).tolist() == [3]


def test_strategies_of_others_say_that_they_cannot():
    class Mine(Strategy):
        def __init__(self, *, time_limit=None, n_jobs=None, verbose=0):
            self.time_limit, self.n_jobs, self.verbose = time_limit, n_jobs, verbose

    X, y = data()
    with pytest.raises(ValueError, match="Mine does not support must_include"):
        FeatureSelector(HSIC(), Mine(), 2, must_include=[0]).fit(X, y)


def test_too_many_allowed_sets():
    X, y = data(40, 12)
    with pytest.raises(ValueError, match="The constraints allow more than max_subsets=10 sets"):
        FeatureSelector(HSIC(), Exhaustive(max_subsets=10), 4, must_include=[0]).fit(X, y)


def test_pearson_with_ranking():
    X, y = data(200)
    selector = FeatureSelector(Pearson(), Ranking(), 2, must_include=[5]).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 5]


def test_parameters_are_stored_as_given():
    given = {
        "must_include": np.array([1]),
        "feature_groups": {"u": [0, 1]},
        "costs": [1.0] * 6,
        "budget": 3.0,
    }
    selector = L1LSMI(**given)
    assert all(getattr(selector, name) is value for name, value in given.items())
    X, y = data()
    fitted = clone(selector).fit(X, y)
    assert fitted.support_[[0, 1]].all() and clone(fitted).get_params().keys() == selector.get_params().keys()


@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(L1HSIC(1, must_include=[0], p_value=False, pool=None))),
    ids=lambda value: getattr(getattr(value, "func", value), "__name__", type(value).__name__),
)
def test_the_contract_of_scikit_learn_with_a_constraint(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_all_allowed_sets_are_enumerated_once():
    groups, most = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 1])
    constraints = Constraints.of(5, forced=[1], group_of=groups, most_of=most)
    for k in range(1, constraints.max_size + 1):
        found = list(constraints.allowed_sets(k, np.ones(5, dtype=bool)))
        every = [s for s in itertools.combinations(range(5), k) if constraints.allows(s, k)]
        assert sorted(found) == every
    bounded = Constraints.of(5, costs=np.array([1.0, 2.0, 0.5, 3.0, 1.0]), budget=3.5)
    found = list(bounded.allowed_sets(5, np.ones(5, dtype=bool)))
    every = [s for k in range(1, 6) for s in itertools.combinations(range(5), k) if bounded.allows(s, 5)]
    assert sorted(found) == sorted(every)

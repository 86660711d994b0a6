"""Fits of a given selector: seeded, checked, in parallel and interruptible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, signature
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._blas import call_single_threaded
from l1lsmi._numerics.target import Target
from l1lsmi._validation.columns import has_numbers_only, is_frame, take_rows, text_levels
from l1lsmi._validation.features import check_features, check_names, check_same_rows, tell_features
from l1lsmi._validation.parameters import for_other_rows
from l1lsmi._validation.target import check_target, plain_target
from l1lsmi._validation.weights import check_sample_weight
from l1lsmi._warnings import of_part_of_rows
from l1lsmi.strategies.selection import StopReason


def check_selector(selector: Any, members: Sequence[str] = ("fit",)) -> None:
    """Check that something can be fitted and cloned."""
    if isinstance(selector, type) or not all(hasattr(selector, name) for name in (*members, "get_params")):
        what = f"the class {selector.__name__}" if isinstance(selector, type) else repr(selector)
        raise ValueError(f"selector is {what}: pass an instance of a selector, such as L1LSMI(10).")


def check_rows(
    X: Any, y: Any, task: str, estimator: Any
) -> tuple[HostArray, HostArray | None, Target | None]:
    """Check features and target; both as NumPy arrays, and the target encoded, where there is one."""
    x = to_numpy(check_features(X, estimator))
    if y is None:
        return x, None, None
    target = check_target(y, task)
    check_same_rows(x.shape[0], target.n_rows)
    return x, plain_target(y, task), target


def check_any_rows(
    X: Any, y: Any, task: str, estimator: Any, *, allow_missing: bool
) -> tuple[Any, HostArray | None, Target | None]:
    """The same for a selector that is given rows as they are: dataframes with columns of other kinds stay.

    The estimator gets the levels of text and of categories as ``categories_``.
    """
    if is_frame(X) and not has_numbers_only(X):
        names = check_names(X) or []
        tell_features(estimator, len(names), [str(name) for name in names])
        estimator.categories_ = text_levels(X)
        given: Any = X
    else:
        given = to_numpy(check_features(X, estimator, allow_missing=allow_missing))
    if y is None:
        return given, None, None
    target = check_target(y, task)
    check_same_rows(given.shape[0], target.n_rows)
    return given, plain_target(y, task), target


def take_names(estimator: Any, checked: Any) -> None:
    """Forget what an earlier fit has learned, and take the names of the features from a checked copy."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)
    estimator.n_features_in_ = checked.n_features_in_
    for name in ("feature_names_in_", "categories_"):
        if hasattr(checked, name):
            setattr(estimator, name, getattr(checked, name))


def task_of(selector: Any) -> str:
    """The task that a selector is set to, or "auto"."""
    task = selector._task() if hasattr(selector, "_task") else getattr(selector, "task", "auto")
    return task if isinstance(task, str) else "auto"


def takes_several_targets(selector: Any) -> bool:
    """Whether a selector says that it takes a target of several columns."""
    try:
        return bool(get_tags(selector).target_tags.multi_output)
    except (AttributeError, TypeError, ValueError):
        return False


def seeded(selector: Any, seed: int, **parameters: Any) -> Any:
    """A copy of a selector, all random states of which are drawn from a seed."""
    copy = for_other_rows(selector).set_params(**parameters)
    rng = np.random.default_rng(seed)
    names = sorted(
        name
        for name in copy.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    copy.set_params(**{name: int(rng.integers(2**31 - 1)) for name in names})
    # Nobody asks for the p-values of these fits, which take longer than the searches.
    unasked = [name for name in copy.get_params(deep=True) if name.split("__")[-1] == "p_value"]
    return copy.set_params(**dict.fromkeys(unasked, False))


def routing_of(owner: Any) -> MetadataRouter:
    """What ``fit`` takes beside X and y: for itself, and for the fit of the selector."""
    mapping = MethodMapping().add(caller="fit", callee="fit")
    return (
        MetadataRouter(owner=owner)
        .add_self_request(owner)
        .add(selector=owner.selector, method_mapping=mapping)
    )


def check_beside(owner: Any, params: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Check what the fit of a selector is given beside X and y: something for every row, such as weights."""
    if get_config()["enable_metadata_routing"]:
        params = process_routing(owner, "fit", **params).selector.fit
    known = signature(owner.selector.fit).parameters
    takes_any = any(parameter.kind == Parameter.VAR_KEYWORD for parameter in known.values())
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if value is None:
            continue
        if name not in known and not takes_any:
            raise ValueError(
                f"{name} is given, but fit of {type(owner.selector).__name__} does not take it: pass a "
                "selector whose fit does, or leave it out."
            )
        if name.split("__")[-1] == "sample_weight":
            checked[name] = check_sample_weight(value, n_rows)
            continue
        checked[name] = value if is_frame(value, name) else np.asarray(to_numpy(value))
        if checked[name].shape[:1] != (n_rows,):
            raise ValueError(
                f"{name} has shape {tuple(checked[name].shape)}, but X has {n_rows} rows: pass one entry "
                "per row."
            )
    return checked


def beside_rows(beside: Mapping[str, Any], rows: HostArray) -> dict[str, Any]:
    """Of some rows what is given beside X and y."""
    return {name: take_rows(value, rows) for name, value in beside.items()}


def fitted(selector: Any, x: Any, y: HostArray | None, beside: Mapping[str, Any]) -> Any:
    """Fit a selector; Ctrl-C, which selectors of this package take for the end of a search, is raised."""
    with of_part_of_rows():
        selector.fit(x, y, **beside)
    if getattr(selector, "stop_reason_", None) == StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    return selector


def support_of(selector: Any, n_features: int) -> HostArray:
    """The features that a fitted selector, or the last step of a pipeline, has selected."""
    last = selector if hasattr(selector, "get_support") else getattr(selector, "steps", [(None, None)])[-1][1]
    if not hasattr(last, "get_support"):
        raise ValueError(
            f"selector is a {type(selector).__name__}, which has no get_support: pass a selector, or wrap "
            "the model in SelectFromModel."
        )
    support = np.asarray(last.get_support(), dtype=bool)
    if support.shape != (n_features,):
        raise ValueError(
            f"selector selects among {support.size} columns, but X has {n_features}: leave out the steps "
            "before it that change the columns."
        )
    return support


def in_order(
    function: Callable[..., Any], items: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """Call a function on each item, in parallel, and yield the results in order.

    As many calls as run at the same time make one batch, so that whoever stops has waited for one batch at
    most.
    """
    workers = effective_n_jobs(n_jobs)
    remaining = iter(items)
    if workers == 1:
        for item in remaining:
            yield call_single_threaded(function, *item)
        return
    with Parallel(n_jobs=workers, prefer="threads") as parallel:
        while batch := list(islice(remaining, workers)):
            yield from parallel(delayed(call_single_threaded)(function, *item) for item in batch)

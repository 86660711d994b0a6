"""Problems with weak signals whose true columns are known, of any number of rows and columns.

Each is a function ``(n, m, rng) -> (X, y, true columns)``. The true columns are at random positions, and
all that is random comes from ``rng``. Noise has several times the standard deviation of the signal (less
where the class is rare), so that the number of rows decides how many of the true columns can be found.
Class labels are integers; a numeric target has fractions.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial, update_wrapper

import numpy as np

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
Problem = Callable[[int, int, np.random.Generator], Data]

#: Fewest columns that every problem can be made with.
MIN_COLUMNS = 30
#: Shares of the rare class, by problem.
RARE_SHARES = {"rare_0.2%": 0.002, "rare_0.5%": 0.005, "rare_2%": 0.02, "rare_5%": 0.05}


# -- targets ----------------------------------------------------------------------------------------


def numeric(signal: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """The standardised signal plus normal noise of this standard deviation."""
    return (signal - signal.mean()) / signal.std() + noise * rng.normal(size=signal.size)


def classes(
    signal: np.ndarray, noise: float, rng: np.random.Generator, shares: tuple[float, ...] = (0.5, 0.5)
) -> np.ndarray:
    """A noisy signal that is cut into classes of these shares, up to one row."""
    order = np.argsort(numeric(signal, noise, rng))
    ends = np.rint(np.cumsum(shares)[:-1] * signal.size)
    y = np.empty(signal.size, dtype=np.intp)
    y[order] = np.searchsorted(ends, np.arange(signal.size), side="right")
    return y


# -- columns ----------------------------------------------------------------------------------------


def normal_columns(n: int, m: int, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Independent normal columns, and k of their positions."""
    true = rng.choice(m, size=k, replace=False)
    return rng.normal(size=(n, m)), true


def single_and_products(x: np.ndarray) -> np.ndarray:
    """Two products of pairs, and two single effects."""
    return x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3] + 0.6 * x[:, 4] + 0.6 * np.abs(x[:, 5])


# -- problems ---------------------------------------------------------------------------------------


def shapes(n: int, m: int, rng: np.random.Generator) -> Data:
    """Single effects of six shapes."""
    X, true = normal_columns(n, m, 6, rng)
    x = X[:, true]
    signal = (
        0.6 * x[:, 0]
        + 0.6 * (x[:, 1] ** 2 - 1) / np.sqrt(2)
        + np.abs(x[:, 2])
        + 1.4 * (x[:, 3] > 0.5)
        + np.tanh(2 * x[:, 4])
        + 2 * np.exp(-2 * x[:, 5] ** 2)
    )
    return X, numeric(signal, 5.0, rng), true


def shapes_classes(n: int, m: int, rng: np.random.Generator) -> Data:
    """Two classes by a rise, a bowl, a step and a bump."""
    X, true = normal_columns(n, m, 4, rng)
    x = X[:, true]
    signal = x[:, 0] + 0.8 * x[:, 1] ** 2 + 2 * (x[:, 2] > 1) + 2.5 * np.exp(-2 * x[:, 3] ** 2)
    return X, classes(signal, 5.0, rng), true


def products(n: int, m: int, rng: np.random.Generator) -> Data:
    """Two products of pairs and two single effects."""
    X, true = normal_columns(n, m, 6, rng)
    return X, numeric(single_and_products(X[:, true]), 3.0, rng), true


def products_classes(n: int, m: int, rng: np.random.Generator) -> Data:
    """The same for two classes."""
    X, true = normal_columns(n, m, 6, rng)
    return X, classes(single_and_products(X[:, true]), 2.2, rng), true


def thresholds(n: int, m: int, rng: np.random.Generator) -> Data:
    """Two classes by an "and" of two columns, an "or" of two, and one that counts where another is high."""
    X, true = normal_columns(n, m, 6, rng)
    high = X[:, true] > [0.0, 0.0, 0.7, 0.7, 0.0, 0.0]
    signal = (
        1.0 * (high[:, 0] & high[:, 1])
        + (high[:, 2] | high[:, 3])
        + np.where(high[:, 4], 2.0 * high[:, 5], 1)
    )
    return X, classes(signal, 4.0, rng), true


def gates(n: int, m: int, rng: np.random.Generator) -> Data:
    """Two gates: a column acts only where another is high, the second time by its distance from zero."""
    X, true = normal_columns(n, m, 5, rng)
    x = X[:, true]
    signal = (
        np.where(x[:, 0] > 0, x[:, 1], 0) + np.where(x[:, 2] > 0.5, 2 * np.abs(x[:, 3]), 0) + 0.4 * x[:, 4]
    )
    return X, numeric(signal, 4.5, rng), true


def periodic(n: int, m: int, rng: np.random.Generator) -> Data:
    """Waves of three lengths, and one wave of the sum of two columns."""
    X, true = normal_columns(n, m, 5, rng)
    x = X[:, true]
    signal = (
        np.sin(2 * x[:, 0])
        + np.cos(3 * x[:, 1])
        + np.sin(4 * x[:, 2])
        + 1.5 * np.sin(1.5 * (x[:, 3] + x[:, 4]))
    )
    return X, numeric(signal, 3.5, rng), true


def three_way_sign(n: int, m: int, rng: np.random.Generator) -> Data:
    """Two classes by the sign of a product of three columns, and two single effects.

    The factors change sign off their mean, so that pairs and single columns tell a little.
    """
    X, true = normal_columns(n, m, 5, rng)
    x = X[:, true]
    signal = np.sign((x[:, :3] - 0.6).prod(axis=1)) + 0.4 * x[:, 3] + 0.4 * np.abs(x[:, 4])
    return X, classes(signal, 2.5, rng), true


def three_way_gate(n: int, m: int, rng: np.random.Generator) -> Data:
    """A product of two columns where a third one is high, and two single effects."""
    X, true = normal_columns(n, m, 5, rng)
    x = X[:, true]
    signal = (
        np.where(x[:, 0] > 0, (x[:, 1] + 0.3) * (x[:, 2] + 0.3), 0) + 0.3 * x[:, 3] + 0.3 * np.abs(x[:, 4])
    )
    return X, numeric(signal, 3.0, rng), true


def rare(n: int, m: int, rng: np.random.Generator, *, share: float, noise: float) -> Data:
    """A rare class, by a product of two columns and three single effects."""
    X, true = normal_columns(n, m, 5, rng)
    x = X[:, true]
    signal = x[:, 0] * x[:, 1] + 0.8 * x[:, 2] + 0.8 * np.abs(x[:, 3]) + 0.8 * (x[:, 4] > 0)
    return X, classes(signal, noise, rng, (1 - share, share)), true


def autoregressive(n: int, m: int, rng: np.random.Generator) -> Data:
    """Neighbouring columns are correlated by 0.5 to 0.8; a product and three single effects."""
    X, true = normal_columns(n, m, 5, rng)
    correlation = rng.uniform(0.5, 0.8)
    for j in range(1, m):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    x = X[:, true]
    signal = x[:, 0] * x[:, 1] + 0.7 * x[:, 2] + 0.7 * np.abs(x[:, 3]) + 0.7 * np.sin(2 * x[:, 4])
    return X, numeric(signal, 3.5, rng), true


def factors(n: int, m: int, rng: np.random.Generator) -> Data:
    """Half of the variance of every column comes from five common factors; two classes."""
    X, true = normal_columns(n, m, 5, rng)
    loadings = rng.normal(size=(5, m))
    X += rng.normal(size=(n, 5)) @ (loadings / np.linalg.norm(loadings, axis=0))
    X /= np.sqrt(2)
    x = X[:, true]
    signal = x[:, 0] * x[:, 1] + x[:, 2] + np.abs(x[:, 3]) - (x[:, 4] > 0.5)
    return X, classes(signal, 3.0, rng), true


def near_copies(n: int, m: int, rng: np.random.Generator) -> Data:
    """Every true column has two copies with noise, correlated with it by 0.9."""
    X, places = normal_columns(n, m, 15, rng)
    true, copies = places[:5], places[5:]
    X[:, copies] = 0.9 * np.repeat(X[:, true], 2, axis=1) + np.sqrt(1 - 0.9**2) * X[:, copies]
    x = X[:, true]
    signal = x[:, 0] * x[:, 1] + 0.7 * x[:, 2] + 0.7 * np.abs(x[:, 3]) + 1.2 * (x[:, 4] > 0)
    return X, numeric(signal, 3.0, rng), true


def categories(n: int, m: int, rng: np.random.Generator) -> Data:
    """Categories as codes in no order: three single effects, and one of a pair of categories."""
    true = rng.choice(m, size=5, replace=False)
    sizes = rng.integers(3, 11, size=m)
    X = rng.integers(0, sizes, size=(n, m))
    signal = np.zeros(n)
    for j in true[:3]:
        signal += spread(rng.normal(size=sizes[j]))[X[:, j]]
    pair = spread(rng.normal(size=sizes[true[3:]]))
    signal += 1.5 * pair[X[:, true[3]], X[:, true[4]]]
    return X.astype(np.float64), classes(signal, 4.0, rng), true


def spread(effects: np.ndarray) -> np.ndarray:
    """Effects with mean 0 and standard deviation 1: few random ones could by chance be nearly equal."""
    return (effects - effects.mean()) / effects.std()


def heavy_tails(n: int, m: int, rng: np.random.Generator) -> Data:
    """Columns of Student's t with two degrees of freedom, of lognormal values, and of counts, mostly zeros.

    A product and three single effects, all bounded or logarithmic, so that no row decides by itself.
    """
    kinds = rng.permutation(np.arange(m) % 3)
    X = np.empty((n, m))
    t, lognormal, counts = (np.flatnonzero(kinds == kind) for kind in range(3))
    X[:, t] = rng.standard_t(2, size=(n, t.size))
    X[:, lognormal] = rng.lognormal(sigma=1.5, size=(n, lognormal.size))
    X[:, counts] = rng.poisson(3.0, size=(n, counts.size)) * (rng.random(size=(n, counts.size)) < 0.3)
    true = np.concatenate([rng.choice(kind, size=2, replace=False) for kind in (t, lognormal, counts)])
    a, b = np.tanh(X[:, true[:2]]).T
    c, d = np.log(X[:, true[2:4]]).T / 1.5
    e, f = np.log1p(X[:, true[4:]]).T
    return X, numeric(1.5 * a * c + b + 0.5 * d + e + (f > 0), 3.5, rng), true


def many_linear(n: int, m: int, rng: np.random.Generator) -> Data:
    """Eighteen weak linear effects of either sign."""
    X, true = normal_columns(n, m, 18, rng)
    effects = rng.uniform(0.6, 1.2, size=18) * rng.choice([-1, 1], size=18)
    return X, numeric(X[:, true] @ effects, 4.0, rng), true


def three_classes(n: int, m: int, rng: np.random.Generator) -> Data:
    """Three ordered classes, of a half, three tenths and a fifth of the rows."""
    X, true = normal_columns(n, m, 6, rng)
    return X, classes(single_and_products(X[:, true]), 2.2, rng, (0.5, 0.3, 0.2)), true


def four_classes(n: int, m: int, rng: np.random.Generator) -> Data:
    """Four classes in no order: each is likely where its own effects are large."""
    X, true = normal_columns(n, m, 6, rng)
    x = X[:, true]
    effects = (
        0.7 * x[:, 0] + 0.5 * x[:, 1],
        np.abs(x[:, 1]),
        x[:, 2] * x[:, 3],
        0.7 * x[:, 4] - 0.7 * (x[:, 5] > 0),
    )
    likely = np.column_stack([numeric(effect, 3.0, rng) for effect in effects])
    return X, likely.argmax(axis=1), true


PROBLEMS: dict[str, Problem] = {
    make.__name__: make
    for make in (
        shapes,
        shapes_classes,
        products,
        products_classes,
        thresholds,
        gates,
        periodic,
        three_way_sign,
        three_way_gate,
        autoregressive,
        factors,
        near_copies,
        categories,
        heavy_tails,
        many_linear,
        three_classes,
        four_classes,
    )
}
# The rarer the class, the fewer of its rows there are, and the clearer its signal has to be.
_RARE_NOISE = {"rare_0.2%": 0.3, "rare_0.5%": 0.7, "rare_2%": 1.2, "rare_5%": 1.5}
for _name, _share in RARE_SHARES.items():
    PROBLEMS[_name] = update_wrapper(partial(rare, share=_share, noise=_RARE_NOISE[_name]), rare)


def draw(name: str, n: int, m: int, seed: int) -> Data:
    """A problem by name; the seed and the name together decide, so that problems share no random numbers."""
    return PROBLEMS[name](n, m, np.random.default_rng([seed, zlib.crc32(name.encode())]))

"""Versions of what a result was computed with."""

from __future__ import annotations

import platform
from importlib.metadata import version

from l1lsmi import __version__

#: Libraries whose version can change a result, by the names they are installed by.
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of the libraries that compute.

    Returns
    -------
    versions : dict of str to str

    Examples
    --------
    >>> list(versions())
    ['l1lsmi', 'Python', 'numpy', 'scipy', 'scikit-learn']
    """
    return {
        "l1lsmi": __version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }

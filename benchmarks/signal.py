"""F-measure, regret and time of selectors on weak signals, against the numbers of rows and of columns.

``python benchmarks/signal.py --out signal.csv`` measures, on one thread, every method on the same draws
in turn, and appends each run to the file as soon as it is done. Runs that the file has already are not
repeated, so an interrupted command can be given again, and further rows, columns, draws, problems and methods
can be added. ``--from signal.csv`` prints the tables without measuring, and ``--figure signal.svg`` draws.

Regret is the score of the true columns minus that of the columns found by L1LSMI, by squared-loss mutual
information on all rows: where there is none, a wrong set is not a failure of the search.
"""

from __future__ import annotations

if __name__ != "__main__":
    # Scripts beside this one, and this one, find it where they import the standard module of the same name.
    import importlib.util
    import sys
    import sysconfig
    from pathlib import Path

    _path = Path(sysconfig.get_path("stdlib")) / "signal.py"
    _spec = importlib.util.spec_from_file_location(__name__, _path)
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules[__name__] = _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
else:
    from signal_runs import main

    main()

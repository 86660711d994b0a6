"""A fit that was killed goes on from its checkpoint, and gives the answer of one that was not."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, _checkpoint
from l1lsmi._checkpoint import Checkpoint, CheckpointError, Codec
from l1lsmi._cli.app import run
from l1lsmi.inference import StabilitySelector
from l1lsmi.measures import HSIC, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking, _pieces
from l1lsmi.strategies.selection import StopReason
from tests.conftest import assert_refused

pytestmark = pytest.mark.filterwarnings("ignore")

STRATEGIES = {
    "Ranking": Ranking(),
    "Forward": Forward(),
    "Backward": Backward(),
    "Exhaustive": Exhaustive(),
    "L1Path": L1Path(max_iter=2),
    "L1Paper": L1Paper(n_restarts=2, max_iter=2, max_doublings=4, max_halvings=2),
}


class Killed(BaseException):
    """What ends a fit in the middle."""


@pytest.fixture
def pieces(monkeypatch):
    """Counts pieces that are computed, and ends a fit after so many."""

    class Counter:
        def __init__(self):
            self.keys, self.most = [], None

    counter, put = Counter(), Checkpoint.put

    def counted(self, key, value, codec):
        put(self, key, value, codec)
        if key[-1].startswith("best of"):  # a mark, which takes no work
            return
        counter.keys.append(key)
        if len(counter.keys) == counter.most:
            raise Killed

    monkeypatch.setattr(Checkpoint, "put", counted)
    return counter


def data(n=120, m=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m)).round(6)
    return X, (X[:, 1] * X[:, 4] + 0.3 * rng.normal(size=n)).round(6)


def given(road, folder):
    """X and y in memory, in a file, or as a Dask array."""
    X, y = data()
    if road == "memory":
        return X, y
    if road == "dask":
        return pytest.importorskip("dask.array").from_array(X, chunks=(50, X.shape[1])), y
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "data.parquet"
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    parquet.write_table(pa.table({**columns, "y": y}), path, row_group_size=50)
    return str(path), "y"


def same(a, b):
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.tolist() == b.tolist()
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "__dataclass_fields__"):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    return type(a) is type(b) and a == b


def learned(selector):
    return {name: value for name, value in vars(selector).items() if name[-1] == "_" and name[0] != "_"}


def assert_identical(found, expected):
    assert learned(found).keys() == learned(expected).keys()
    for name, value in learned(expected).items():
        assert same(value, learned(found)[name]), name


def assert_resumes(selector, X, y, path, pieces, where=(0.0, 0.4, 0.9)):
    """Kill it at several places, and compare the answers and the work with those of a fit that is not."""
    expected = clone(selector).fit(X, y)
    whole = clone(selector).set_params(checkpoint=path).fit(X, y)
    assert_identical(whole, expected)
    n_pieces = len(pieces.keys)
    assert len(set(pieces.keys)) == n_pieces
    assert_identical(clone(selector).set_params(checkpoint=path).fit(X, y), expected)
    assert len(pieces.keys) == n_pieces  # the second time nothing is computed
    for share in where:
        path.unlink()
        pieces.keys, pieces.most = [], 1 + int(share * (n_pieces - 1))
        with pytest.raises(Killed):
            clone(selector).set_params(checkpoint=path).fit(X, y)
        pieces.most = None
        assert_identical(clone(selector).set_params(checkpoint=path).fit(X, y), expected)
        assert len(pieces.keys) == n_pieces  # no piece is computed twice


@pytest.mark.parametrize("road", ["memory", "file", "dask"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_fit_that_was_killed_goes_on(name, road, tmp_path, pieces):
    measure = SquaredMutualInformation(n_basis=15, cv=2) if name.startswith("L1") else HSIC()
    selector = FeatureSelector(measure, clone(STRATEGIES[name]), 2, p_value=False, pool=None, random_state=0)
    where = (0.0, 0.4, 0.9) if road == "memory" else (0.6,)
    assert_resumes(selector, *given(road, tmp_path), tmp_path / "run.l1lsmi", pieces, where)


@pytest.mark.parametrize("name", ["Ranking", "Forward", "L1Path"])
def test_so_does_a_choice_by_unseen_rows(name, tmp_path, pieces):
    X, y = data(80, 5)
    selector = FeatureSelector(HSIC(), clone(STRATEGIES[name]), "auto", random_state=0)
    assert_resumes(selector, X, y, tmp_path / "run.l1lsmi", pieces, (0.6,))


def test_so_do_a_choice_of_a_pool_and_a_p_value(tmp_path, pieces):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 110))
    wide = L1HSIC(2, max_iter=1)
    assert_resumes(wide, X, X[:, 3] + X[:, 5], tmp_path / "run.l1lsmi", pieces, (0.5,))
    noise = L1HSIC(2, max_iter=1)
    pieces.keys = []
    (tmp_path / "run.l1lsmi").unlink()
    assert_resumes(noise, X[:, :5], rng.normal(size=60), tmp_path / "run.l1lsmi", pieces, (0.7,))


@pytest.mark.parametrize("name", ["Ranking", "Forward", "Backward", "Exhaustive", "L1Path", "L1Paper"])
def test_so_does_a_search_among_allowed_sets(name, tmp_path, pieces):
    X, y = data()
    selector = FeatureSelector(
        HSIC(), clone(STRATEGIES[name]), 3, must_include=[0], p_value=False, pool=None, random_state=0
    )
    assert_resumes(selector, X, y, tmp_path / "run.l1lsmi", pieces, (0.5,))


def test_weights_groups_and_covariates_are_part_of_the_fit(tmp_path, pieces):
    X, y = data()
    path, selector = tmp_path / "run.l1lsmi", FeatureSelector(HSIC(), Ranking(), 2)
    beside = {"sample_weight": 1.0 + np.arange(120) % 3, "groups": np.arange(120) // 2, "covariates": X[:, 2]}
    clone(selector).set_params(checkpoint=path).fit(X, y, **beside)
    for name in ("groups", "covariates", "sample_weight"):
        other = {**beside, name: np.roll(beside[name], 1)}
        with pytest.raises(CheckpointError, match="is not the same"):
            clone(selector).set_params(checkpoint=path).fit(X, y, **other)


def test_threads_compute_each_piece_once(tmp_path, pieces):
    X, y = data()
    selector = L1LSMI(2, n_basis=15, n_restarts=4, max_iter=1, p_value=False, pool=None, random_state=0)
    expected = clone(selector).fit(X, y)
    path = tmp_path / "run.l1lsmi"
    pieces.most = 12
    with pytest.raises(Killed):
        clone(selector).set_params(checkpoint=path, n_jobs=2).fit(X, y)
    pieces.most = None
    # The number of threads may be another one.
    assert_identical(clone(selector).set_params(checkpoint=path).fit(X, y), expected)
    assert len(set(pieces.keys)) == len(pieces.keys)


def test_a_seed_that_was_drawn_is_kept(tmp_path, pieces):
    X, y = data(80)
    selector = FeatureSelector(SquaredMutualInformation(n_basis=10), Forward(), 2)
    path = tmp_path / "run.l1lsmi"
    pieces.most = 4
    with pytest.raises(Killed):
        clone(selector).set_params(checkpoint=path).fit(X, y)
    copied = path.read_bytes()
    pieces.most = None
    first = clone(selector).set_params(checkpoint=path).fit(X, y)
    path.write_bytes(copied)
    assert_identical(clone(selector).set_params(checkpoint=path).fit(X, y), first)
    assert first.score_ != clone(selector).fit(X, y).score_


# -- other parameters ------------------------------------------------------------------------------


def test_more_restarts_go_on_from_those_that_are_known(pieces):
    X, y = data()
    y = np.random.default_rng(5).permutation(y)  # restarts do not agree
    parameters = {"n_basis": 15, "max_iter": 1, "p_value": False, "random_state": 0, "algorithm": "paper"}
    selector = L1LSMI(2, n_restarts=2, warm_start=True, **parameters).fit(X, y)
    known = set(pieces.keys)
    pieces.keys = []
    selector.set_params(n_restarts=4).fit(X, y)
    n_new = sum(key[-1].startswith("restart") for key in pieces.keys)
    assert n_new == 2 and not known & set(pieces.keys)
    assert_identical(selector, L1LSMI(2, n_restarts=4, **parameters).fit(X, y))


def test_more_restarts_give_no_worse_set():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 12))
    y = rng.normal(size=100)
    options = {"max_iter": 1, "terms": False, "agreement": 9, "n_refined": 1, "max_exchanges": 0}
    search = FeatureSelector(
        HSIC(), L1Path(n_restarts=1, **options), 3, p_value=False, pool=None, warm_start=True, random_state=0
    )
    scores = []
    for n_restarts in (1, 3, 5):
        search.set_params(strategy__n_restarts=n_restarts).fit(X, y)
        scores.append(HSIC().score(X[:, search.support_], y))
    assert scores == sorted(scores)


@pytest.mark.parametrize(("strategy", "kind"), [(Forward(), "candidates"), (Ranking(), "columns")])
def test_another_number_of_features_uses_what_is_known(strategy, kind, tmp_path, pieces):
    X, y = data()
    path = tmp_path / "run.l1lsmi"
    FeatureSelector(HSIC(), strategy, 2, checkpoint=path, random_state=0).fit(X, y)
    pieces.keys = []
    more = FeatureSelector(HSIC(), strategy, 4, checkpoint=path, random_state=0).fit(X, y)
    # Of a forward search the two further steps, of a ranking nothing.
    assert sum(key[-1].startswith(kind) for key in pieces.keys) == (2 if kind == "candidates" else 0)
    assert_identical(more, FeatureSelector(HSIC(), strategy, 4, random_state=0).fit(X, y))


def test_warm_start_begins_anew_with_other_data(pieces):
    X, y = data()
    selector = FeatureSelector(HSIC(), Ranking(), 2, warm_start=True).fit(X, y)
    n_pieces = len(pieces.keys)
    selector.fit(X, y)
    assert len(pieces.keys) == n_pieces
    selector.fit(X, y[::-1])
    assert len(pieces.keys) == 2 * n_pieces
    assert not hasattr(clone(selector), "_known")


def test_a_time_limit_keeps_what_was_found(tmp_path, pieces, monkeypatch):
    X, y = data()
    path = tmp_path / "run.l1lsmi"
    selector = FeatureSelector(HSIC(), Forward(), 4, checkpoint=path)
    expected = FeatureSelector(HSIC(), Forward(), 4).fit(X, y)
    clock = [0.0]
    monkeypatch.setattr("l1lsmi._clock.time.monotonic", lambda: clock[0])
    put = Checkpoint.put

    def slow(self, *arguments):
        put(self, *arguments)
        clock[0] += 1.0

    monkeypatch.setattr(Checkpoint, "put", slow)
    stopped = clone(selector).set_params(strategy__time_limit=8.0).fit(X, y)
    assert stopped.stop_reason_ == StopReason.TIME_LIMIT
    known = set(pieces.keys)
    pieces.keys = []
    resumed = clone(selector).set_params(strategy__time_limit=1e9).fit(X, y)
    assert resumed.stop_reason_ == StopReason.ALL_STEPS
    assert not known & set(pieces.keys)
    assert np.array_equal(resumed.support_, expected.support_)


def test_copies_for_other_rows_have_no_checkpoint(tmp_path):
    X, y = data()
    path = tmp_path / "run.l1lsmi"
    selector = FeatureSelector(HSIC(), Ranking(), 2, checkpoint=path).fit(X, y)
    before = path.read_bytes()
    StabilitySelector(selector, n_resamples=2, random_state=0).fit(X, y)
    report = selector.report(X, y)
    assert str(path) not in str(report.data)
    assert path.read_bytes() == before


# -- the file --------------------------------------------------------------------------------------


def written(path, **changed):
    """A checkpoint of a small fit, with some of its first line changed."""
    X, y = data()
    FeatureSelector(HSIC(), Ranking(), 2, checkpoint=path).fit(X, y)
    head, _, body = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(head), **changed}).encode() + b"\n" + body)
    return path


def refused(path, words, X=None, y=None, **parameters):
    """Check that a fit with a checkpoint is refused, and that the file is left alone."""
    given, before = data(), path.read_bytes()
    selector = FeatureSelector(HSIC(), Ranking(), 2, checkpoint=path).set_params(**parameters)
    assert_refused(selector, given[0] if X is None else X, given[1] if y is None else y, words)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"format": 2}, "has the format 2"),
        ({"package": "9.9"}, "was written by version 9.9 of l1lsmi"),
        ({"sha256": "0" * 64}, "is damaged"),
        ({"file": "other"}, "is not a checkpoint"),
        ({"data": None}, "is damaged"),
    ],
)
def test_another_version_or_a_damaged_file_is_refused(changed, told, tmp_path):
    refused(written(tmp_path / "run.l1lsmi", **changed), told)


def test_every_cut_and_every_changed_byte_is_noticed(tmp_path):
    path = written(tmp_path / "run.l1lsmi")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole) - 1, size=60):
        path.write_bytes(whole[:place])
        refused(path, "checkpoint=")
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        refused(path, "checkpoint=")


@pytest.mark.parametrize(
    "content",
    [b"", b"a,b\n1,2\n", b"[" * 100_000, b'{"file": 3}\n{}', b"\x80\x04K\x01.", b"PK\x03\x04"],
    ids=["empty", "table", "deep", "json", "pickle", "zip"],
)
def test_another_file_is_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "run.l1lsmi"
    path.write_bytes(content)
    refused(path, "is not a checkpoint")


def test_results_that_are_not_plain_data_are_refused():
    codec = Codec()
    for value in (
        {"os.system": ["true"]},
        {"array": ["|O", [1], "AAAAAAAAAAA="]},
        {"array": ["<f8", [2**40], "AAAAAAAAAAA="]},
        {"array": ["<f8", [-1], "AAAAAAAAAAA="]},
        {"tuple": 3},
        {},
    ):
        with pytest.raises((ValueError, TypeError, LookupError)):
            codec.decode(value)
    with pytest.raises(TypeError, match="cannot be stored"):
        codec.encode(object())


def test_numbers_come_back_exactly():
    rng = np.random.default_rng(0)
    values = [
        *(1 / 3, float("inf"), 5e-324, -0.0, True, None, "a/b", (1, [2.5]), {"a": (1,)}),
        *(rng.normal(size=(3, 2)), np.arange(3), rng.random(4).astype(np.float32), np.array([True, False])),
        np.zeros((0, 3)),
    ]
    codec = Codec()
    again = codec.decode(json.loads(json.dumps(codec.encode(values))))
    assert all(map(same, values, again))
    assert np.isnan(codec.decode(json.loads(json.dumps(codec.encode(float("nan"))))))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"measure__sigma": 2.0}, "measure__sigma was None there and is 2.0 here"),
        ({"strategy": Forward()}, "strategy was Ranking there and is Forward here"),
        ({"pool": None}, "pool was 'auto' there and is None here"),
    ],
)
def test_other_parameters_are_named(parameters, told, tmp_path):
    path = written(tmp_path / "run.l1lsmi")
    refused(path, told, **parameters)


def test_sums_that_are_large_and_quick_are_not_kept(monkeypatch):
    checkpoint = Checkpoint(None, "1")
    with _pieces.kept_in(checkpoint):
        for seconds, is_kept in ((1.0, False), (-1.0, True)):
            monkeypatch.setattr(_pieces, "WORTH_KEEPING", seconds)
            _pieces.recall("sums", None, lambda: (np.zeros(3), np.zeros((200, 200))))
            assert (_pieces.known("sums", None) is not None) == is_kept
        _pieces.recall("number", None, lambda: 2.0)
        assert _pieces.known("number", None) == 2.0


def test_other_data_are_named(tmp_path):
    path = written(tmp_path / "run.l1lsmi")
    X, y = data()
    refused(path, "X had 120 rows there and has 119 here", X=X[:-1], y=y[:-1])
    refused(path, "X had 6 columns there and has 5 here", X=X[:, 1:])
    changed = X.copy()
    changed[3, 2] = np.nextafter(changed[3, 2], 9)
    refused(path, "X is not the same", X=changed)
    refused(path, "X is not the same", X=X[::-1])
    refused(path, "y is not the same", y=y[::-1])


def test_few_rows_in_another_order_are_the_same_data(tmp_path, pieces):
    X, y = data()
    selector = L1LSMI(2, n_basis=15, p_value=False, pool=None, checkpoint=tmp_path / "run.l1lsmi")
    expected, n_pieces = clone(selector).fit(X, y), len(pieces.keys)
    assert_identical(clone(selector).fit(X[::-1], y[::-1]), expected)
    assert len(pieces.keys) == n_pieces
    with pytest.raises(CheckpointError, match="y is not the same"):
        clone(selector).fit(X, y[::-1])


def test_a_file_that_changed_is_noticed(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = given("file", tmp_path)
    path = tmp_path / "run.l1lsmi"
    FeatureSelector(HSIC(), Ranking(), 2, checkpoint=path).fit(X, y)
    table = parquet.read_table(X).to_pandas()
    table.loc[[4, 90], "x3"] = table.loc[[90, 4], "x3"].to_numpy()  # the mean stays
    parquet.write_table(pa.Table.from_pandas(table), X)
    with pytest.raises(CheckpointError, match="X is not the same"):
        FeatureSelector(HSIC(), Ranking(), 2, checkpoint=path).fit(X, y)


def test_a_path_that_cannot_be_written_is_named_first(tmp_path):
    X, y = data()
    for path in ("", tmp_path, tmp_path / "no/such/run.l1lsmi", "a\0b"):
        with pytest.raises(
            CheckpointError, match=r"^checkpoint=.* cannot be used \(.*\): pass the path of a"
        ):
            FeatureSelector(HSIC(), Ranking(), 2, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="'checkpoint' parameter"):
        FeatureSelector(HSIC(), Ranking(), 2, checkpoint=3).fit(X, y)


@pytest.mark.filterwarnings("default")
def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    X, y = data()
    monkeypatch.setattr(_checkpoint, "write_atomically", full)
    with pytest.warns(RuntimeWarning, match="could not be written: No space left on device"):
        selector = FeatureSelector(HSIC(), Ranking(), 2, checkpoint=tmp_path / "run.l1lsmi").fit(X, y)
    assert selector.support_.sum() == 2


def test_the_file_is_written_about_once_a_second(tmp_path, monkeypatch):
    clock, writes, write = [0.0], [], _checkpoint.write_atomically
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(
        _checkpoint, "write_atomically", lambda *given: (writes.append(clock[0]), write(*given))
    )
    kept, codec = Checkpoint(tmp_path / "a", "1"), Codec()
    kept.identify({"parameters": {}, "data": {}})
    for number in range(40):
        clock[0] = 0.125 * (number + 1)
        kept.put((f"piece:{number}",), number, codec)
    assert writes == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert len(Checkpoint(tmp_path / "a", "1")) == 40


# -- the command line ------------------------------------------------------------------------------


def write_csv(folder):
    X, y = data(150, 8)
    path = folder / "data.csv"
    path.write_text(
        "\n".join(
            [",".join([*"abcdefgh", "y"]), *(",".join(map(repr, map(float, row))) for row in np.c_[X, y])]
        )
    )
    return str(path)


def printed(arguments, capsys):
    """What a command prints as JSON, without seconds."""
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    del found["seconds"]
    return found


def test_resume_makes_a_file_and_goes_on_from_it(tmp_path, capsys, pieces):
    path, command = tmp_path / "run.l1lsmi", ["select", write_csv(tmp_path), "-t", "y", "-k", "2", "--json"]
    expected = printed(command, capsys)
    pieces.most = 10
    with pytest.raises(Killed):
        run([*command, "--resume", str(path)])
    pieces.most = None
    assert printed([*command, "--resume", str(path)], capsys) == expected
    assert len(set(pieces.keys)) == len(pieces.keys)


def test_resume_says_what_differs(tmp_path, capsys):
    path, file = tmp_path / "run.l1lsmi", write_csv(tmp_path)
    command = ["select", file, "-t", "y", "-k", "2", "-m", "hsic-ranking", "--resume", str(path)]
    assert run(command) == 0
    assert run([*command, "--seed", "1"]) == 1
    told = capsys.readouterr().err
    assert f"--resume '{path}' belongs to another fit: random_state was 0 there and is 1 here." in told
    assert run([*command[:-2], "--resume", file]) == 2
    assert "is the same file as FILE" in capsys.readouterr().err
    assert run(["select", file, "-t", "y", "-m", "mrmr", "--resume", str(path)]) == 2
    assert "--resume is not supported by the method mrmr" in capsys.readouterr().err


# -- real processes --------------------------------------------------------------------------------

FIT = """
import sys
import numpy as np
from l1lsmi import L1LSMI
from tests.test_checkpoint import data
X, y = data(150, 8)
print("begin", flush=True)
found = L1LSMI(2, n_restarts=4, random_state=0, checkpoint=sys.argv[1]).fit(X, y)
print(np.flatnonzero(found.support_), found.weights_.tobytes().hex(), found.smi_.hex(), found.n_iter_)
"""
COMMAND = """
import sys
from l1lsmi._cli.app import run
import l1lsmi._cli.select
print("begin", flush=True)
sys.exit(run(["select", sys.argv[2], "-t", "y", "-k", "2", "--json", "--resume", sys.argv[1]]))
"""


def killed_and_resumed(script, *arguments):
    """What a script prints in the end, after it was killed at some moment after it began."""
    command, options = [sys.executable, "-c", script, *map(str, arguments)], {"stderr": subprocess.DEVNULL}
    options["env"] = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    moment = np.random.default_rng().uniform(0.02, 0.8)
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        process.stdout.readline()
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **options).stdout


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed here")
def test_processes_that_are_really_killed_go_on(tmp_path, capsys):
    found = killed_and_resumed(FIT, tmp_path / "of_library")
    whole = L1LSMI(2, n_restarts=4, random_state=0).fit(*data(150, 8))
    expected = (whole.weights_.tobytes().hex(), whole.smi_.hex(), whole.n_iter_)
    assert found.split("\n")[1] == " ".join(map(str, [np.flatnonzero(whole.support_), *expected]))
    file = write_csv(tmp_path)
    found = json.loads(killed_and_resumed(COMMAND, tmp_path / "of_command", file).partition("\n")[2])
    del found["seconds"]
    assert found == printed(["select", file, "-t", "y", "-k", "2", "--json"], capsys)

"""Downloads from a local server that can be made to fail, and the conversion of what was downloaded."""

import dataclasses
import hashlib
import http.server
import io
import json
import threading
import zipfile
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import numpy as np
import pytest
from sklearn.datasets import _openml

pytest.importorskip("ncompress")
pytest.importorskip("pooch")

import ncompress
import requests

from experiments.data import download
from experiments.data.recipe import UCI, OpenML, Recipe
from experiments.real import Real

# Six rows; the second column is constant, the last row has a missing value.
ARFF = """% written for a test
@RELATION 'small one'
@ATTRIBUTE 'a size' NUMERIC
@ATTRIBUTE still REAL
@ATTRIBUTE colour {'deep red', green, "blue"}
@ATTRIBUTE grade {10,20}
@ATTRIBUTE Class {no, yes}
@DATA
1, 7, 'deep red', 10, yes
2, 7, green, 20, no
3, 7, blue, 10, yes

% a comment
4, 7, 'blue', 20, no
5, 7, green, 20, no
?, 7, green, 20, no
"""
COLUMNS = {"a size": (), "still": (), "colour": ("deep red", "green", "blue"), "grade": ("10", "20")}
COLUMNS["Class"] = ("no", "yes")
FROM_OPENML = Real(
    name="arff",
    n_rows=5,
    n_features=3,
    class_counts=(2, 3),
    source=OpenML(7),
    recipe=Recipe(
        target="class", labels=("yes", "no"), drop_constant=True, drop_missing=True, standardise=""
    ),
    class_names=("good", "bad"),
)
# Molecule, conformation, two features, class: the format of the musk files.
ROWS = b"m-b,s1,A1,4,1.\nm-b,s2,A2,6,1.\nm-a,s1,A3,8,0.\n"
MORE = b"m-a,s2,A4,10,0.\n"
FROM_UCI = Real(
    name="musky",
    n_rows=4,
    n_features=2,
    class_counts=(2, 2),
    source=UCI("small.zip", ("one.data", "two.data")),
    recipe=Recipe(
        labels=("0", "1"), drop=(1,), group_column=0, code_prefix="A", feature_names=("code", "size")
    ),
    first_label=0,
    grouped_by="molecule",
)
BOTH = [FROM_OPENML, FROM_UCI]


@pytest.fixture
def web(monkeypatch):
    """Pages by their address, on a server in the place of OpenML and the UCI archive."""
    pages: dict = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = pages.get(self.path)
            if page is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(page) + pages.get("missing", 0)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        use_server(monkeypatch, f"http://127.0.0.1:{server.server_port}/")
        pages["/api/v1/json/data/features/7"] = openml_features()
        pages["/api/v1/json/data/qualities/7"] = b'{"data_qualities": {"quality": []}}'
        serve_arff(pages, ARFF)
        pages["/small.zip"] = zipped({"top/one.data": ROWS, "top/two.data": MORE})
        yield pages
        server.shutdown()
        thread.join()


def use_server(monkeypatch, address):
    def redirected(request):
        return urlopen(Request(address.rstrip("/") + urlparse(request.full_url).path), timeout=10)

    monkeypatch.setattr(download, "UCI_ARCHIVE", address)
    monkeypatch.setattr(_openml, "urlopen", redirected)


def serve_arff(pages, text, md5=None):
    about = {
        **{"id": "7", "name": "small", "version": "1", "format": "ARFF", "status": "active"},
        "description": "",
        "url": "https://www.openml.org/data/v1/download/1/small.arff",
        "md5_checksum": md5 or hashlib.md5(text.encode()).hexdigest(),
    }
    pages["/api/v1/json/data/7"] = json.dumps({"data_set_description": about}).encode()
    pages["/data/v1/download/1/small.arff"] = text.encode()


def openml_features():
    flags = {"is_target": "false", "is_ignore": "false", "is_row_identifier": "false"}
    columns = [
        {"index": str(i), "name": name, "data_type": "nominal" if words else "numeric", **flags}
        | ({"nominal_value": list(words)} if words else {})
        | {"number_of_missing_values": "0"}
        for i, (name, words) in enumerate(COLUMNS.items())
    ]
    return json.dumps({"data_features": {"feature": columns}}).encode()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("L1LSMI_DATA", raising=False)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between two attempts
    return tmp_path / "cache"


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name, contents in members.items():
            # Without the time: names of tests have the bytes.
            opened.writestr(zipfile.ZipInfo(name), contents)
    return stream.getvalue()


def files_in(cache):
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


# -- success ----------------------------------------------------------------------------------


def test_openml(web, cache):
    data = FROM_OPENML.load(cache=cache)
    # Words are numbered in the order of the source; categories that are numbers keep their value.
    expected = [[1, 1, 10], [2, 2, 20], [3, 3, 10], [4, 3, 20], [5, 2, 20]]
    np.testing.assert_array_equal(data.X, expected)
    np.testing.assert_array_equal(data.y, [1, 2, 1, 2, 2])
    assert data.feature_names == ("a size", "colour", "grade") and data.class_names == ("good", "bad")
    assert data.X.dtype == np.float64 and data.y.dtype == np.int64
    assert data.source.startswith("OpenML 7, http") and hashlib.md5(ARFF.encode()).hexdigest() in data.source


def test_uci(web, cache):
    data = FROM_UCI.load(cache=cache)
    # Codes 1 to 4 and sizes 4 to 10, evenly spaced: one standard deviation is sqrt(5/3) steps.
    steps = (np.arange(4) - 1.5) / np.sqrt(5 / 3)
    np.testing.assert_allclose(data.X, np.column_stack([steps, steps]), atol=1e-15)
    np.testing.assert_array_equal(data.y, [1, 1, 0, 0])
    np.testing.assert_array_equal(data.groups, [0, 0, 1, 1])
    assert data.feature_names == ("code", "size") and data.class_names == ("0", "1")
    assert hashlib.sha256(web["/small.zip"]).hexdigest() in data.source


@pytest.mark.parametrize("real", BOTH, ids=lambda real: real.name)
def test_a_download_is_cached_and_not_repeated(real, web, cache):
    first = real.load(cache=cache)
    web.clear()
    again = real.load(cache=cache, download=False)
    np.testing.assert_array_equal(again.X, first.X)
    np.testing.assert_array_equal(again.y, first.y)
    assert (again.groups is None) == (first.groups is None) and again.source == first.source
    assert again.class_names == first.class_names and again.feature_names == first.feature_names


def test_where_the_cache_is(web, cache, monkeypatch, tmp_path):
    monkeypatch.setenv("L1LSMI_CACHE", str(tmp_path / "variable"))
    FROM_UCI.load()
    FROM_UCI.load(cache=cache)
    assert files_in(tmp_path / "variable") == files_in(cache) == ["small.zip"]
    monkeypatch.delenv("L1LSMI_CACHE")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "system" / project)
    FROM_UCI.load()
    assert files_in(tmp_path / "system" / "l1lsmi") == ["small.zip"]


def test_local_copies_precede_downloads(web, cache, tmp_path):
    np.savez(tmp_path / "musky.npz", X=np.zeros((4, 2)), y=[0, 0, 1, 1])
    assert not FROM_UCI.load(directory=tmp_path, cache=cache).X.any()
    assert not cache.exists()


def test_a_table_that_is_not_an_archive(web, cache):
    plain = Real(
        name="plain",
        n_rows=3,
        n_features=1,
        source=UCI("table.txt", delimiter=None, skip=1, header=True),
        recipe=Recipe(target="goal", standardise="y"),
    )
    web["/table.txt"] = b"a heading\n  x goal\n 1.5  2 \n 2.5\t4\n 3.5 6\n"
    data = plain.load(cache=cache)
    np.testing.assert_array_equal(data.X, [[1.5], [2.5], [3.5]])
    np.testing.assert_allclose(data.y, [-1, 0, 1])
    assert data.feature_names == ("x",) and data.task == "regression" and data.class_names is None


def test_compressed_members_of_an_archive(web, cache):
    compressed = {"one.data.Z": ncompress.compress(ROWS), "two.data.Z": ncompress.compress(MORE)}
    web["/small.zip"] = zipped(compressed)
    np.testing.assert_array_equal(FROM_UCI.load(cache=cache).y, [1, 1, 0, 0])


def test_concurrent_downloads_end_with_one_file(web, cache):
    barrier, loaded = threading.Barrier(6), []

    def work():
        barrier.wait()
        loaded.append(FROM_UCI.load(cache=cache))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 6
    assert all((data.X == loaded[0].X).all() for data in loaded)
    assert files_in(cache) == ["small.zip"]


def test_a_faster_process_is_no_error(web, cache, monkeypatch):
    def slow_fetch(**options):
        monkeypatch.setattr(download, "fetch_openml", fetch)
        FROM_OPENML.load(cache=cache)
        return fetch(**options)

    fetch = download.fetch_openml
    monkeypatch.setattr(download, "fetch_openml", slow_fetch)
    assert FROM_OPENML.load(cache=cache).X.shape == (5, 3)
    assert [path.name for path in cache.iterdir()] == ["openml-7"]


def test_progress_is_shown_on_request(web, cache, capsys):
    FROM_UCI.load(cache=cache)
    assert capsys.readouterr().err == ""
    FROM_UCI.load(cache=cache / "other", verbose=1)
    assert "100%" in capsys.readouterr().err


# -- failure ----------------------------------------------------------------------------------


@pytest.mark.parametrize("real", BOTH, ids=lambda real: real.name)
def test_offline(real, cache, monkeypatch, tmp_path):
    use_server(monkeypatch, "http://127.0.0.1:9/")  # a port on which nothing listens
    with pytest.raises(ConnectionError, match=f"The download of {real.name} failed .*refused") as caught:
        real.load(cache=cache, directory=tmp_path)
    assert "try again" in str(caught.value) and "L1LSMI_DATA" in str(caught.value)
    assert files_in(cache) == []


@pytest.mark.parametrize(
    ("real", "page"),
    [
        (FROM_OPENML, "/api/v1/json/data/7"),
        (FROM_OPENML, "/data/v1/download/1/small.arff"),
        (FROM_UCI, "/small.zip"),
    ],
)
def test_a_page_that_does_not_exist(real, page, web, cache):
    del web[page]
    with pytest.raises(ConnectionError, match=f"The download of {real.name} failed .*404"):
        real.load(cache=cache)
    assert files_in(cache) == []


@pytest.mark.parametrize("real", BOTH, ids=lambda real: real.name)
def test_truncated_downloads(real, web, cache):
    if real is FROM_UCI:
        web["missing"] = 10  # the server announces more bytes than it sends
    else:  # OpenML's checksum tells
        web["/data/v1/download/1/small.arff"] = ARFF.encode()[:-10]
    with pytest.raises((ConnectionError, ValueError), match=f"The download of {real.name} failed") as caught:
        real.load(cache=cache)
    assert "IncompleteRead" in str(caught.value) or "checksum" in str(caught.value)
    assert files_in(cache) == []


@pytest.mark.parametrize("real", BOTH, ids=lambda real: real.name)
def test_interrupted_downloads(real, web, cache, monkeypatch):
    def half_a_file(source, target, *rest):
        target.write(source.read(20))
        raise KeyboardInterrupt

    def half_a_page(response, chunk_size):
        yield response.raw.read(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(_openml.shutil, "copyfileobj", half_a_file)
    monkeypatch.setattr(requests.Response, "iter_content", half_a_page)
    with pytest.raises(KeyboardInterrupt):
        real.load(cache=cache)
    assert files_in(cache) == []


def test_a_failed_attempt_is_repeated(web, cache, monkeypatch):
    pages = [b"damaged", web["/small.zip"]]
    source = dataclasses.replace(FROM_UCI.source, sha256=hashlib.sha256(pages[1]).hexdigest())
    real = dataclasses.replace(FROM_UCI, source=source)
    monkeypatch.setattr("time.sleep", lambda seconds: web.update({"/small.zip": pages[1]}))
    web["/small.zip"] = pages[0]
    assert real.load(cache=cache).X.shape == (4, 2)


def test_checksums(web, cache):
    serve_arff(web, ARFF, md5="0" * 32)
    with pytest.raises(ValueError, match=r"arff failed .*md5 checksum is wrong"):
        FROM_OPENML.load(cache=cache)
    assert files_in(cache) == []
    good = hashlib.sha256(web["/small.zip"]).hexdigest()
    for sha256 in ("0" * 64, good):
        source = dataclasses.replace(FROM_UCI.source, sha256=sha256)
        real = dataclasses.replace(FROM_UCI, source=source)
        if sha256 == good:
            assert real.load(cache=cache).X.shape == (4, 2)
        else:
            with pytest.raises(ValueError, match=r"musky failed .*does not have the sha256 checksum 0{64}"):
                real.load(cache=cache)
            assert files_in(cache) == []


def test_a_damaged_file_in_the_cache_is_never_used(web, cache):
    source = dataclasses.replace(FROM_UCI.source, sha256=hashlib.sha256(web["/small.zip"]).hexdigest())
    real = dataclasses.replace(FROM_UCI, source=source)
    real.load(cache=cache)
    (cache / "small.zip").write_bytes(b"damaged")
    with pytest.raises(FileNotFoundError, match="download=False"):
        real.load(cache=cache, download=False)
    assert real.load(cache=cache).X.shape == (4, 2)
    FROM_OPENML.load(cache=cache)
    (path,) = cache.rglob("small.arff.gz")
    path.write_bytes(b"damaged")
    assert FROM_OPENML.load(cache=cache).X.shape == (5, 3)


@pytest.mark.parametrize("answer", [b"<html>", b'{"error": {"code": "111"}}'])
def test_invalid_answers_of_openml(answer, web, cache):
    web["/api/v1/json/data/7"] = answer
    with pytest.raises(ValueError, match="OpenML 7 is not the expected table"):
        FROM_OPENML.load(cache=cache)
    assert files_in(cache) == []


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"no archive at all", "not a zip file"),
        (zipped({"one.data": ROWS}), "no member two.data"),
        (zipped({"one.data": ROWS, "two.data": b""}), "No columns to parse"),
        (zipped({"one.data": ROWS, "two.data": MORE + MORE}), "it has 5 rows .*but 4 rows and 2"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"0.", b"1.")}), r"counts \(1, 3\)"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"0.", b"2.")}), "'2' is not one of its classes"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"A4", b"B4")}), "'B4', which is neither"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"10", b"nan")}), "missing or infinite"),
        (zipped({"one.data": ROWS + b"m-c,s1,A5,1,1.,7\n", "two.data": MORE}), "Expected 5 fields in line 4"),
        (zipped({"one.data": ROWS + b"m-c,s1\n", "two.data": MORE}), "missing or infinite"),
        (zipped({"one.data": ROWS, "two.data": b"1,2\n"}), "missing or infinite"),
        (zipped({"one.data.Z": b"\x1f\x9d\x90\xff\xff\xff", "two.data": MORE}), "corrupt input"),
        (zipped({"one.data": ROWS, "two.data": MORE}).replace(b"m-b", b"m-x"), "Bad CRC-32"),
    ],
)
def test_unexpected_archives(page, reason, web, cache):
    web["/small.zip"] = page
    with pytest.raises(ValueError, match=f"small.zip is not the expected table: .*{reason}"):
        FROM_UCI.load(cache=cache)
    assert files_in(cache) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("5, 7, green, 20, no\n", "5, 7, green\n", "OpenML 7 is not the expected table"),
        ("5, 7, green", "5, 7, pink", "pink"),
        ("5, 7, green, 20, no", "5, 7, green, 20, maybe", "maybe"),
        ("2, 7, green", "2, 8, green", "it has 5 rows and 4 columns"),
    ],
)
def test_unexpected_arff_files(old, new, reason, web, cache):
    assert old in ARFF
    serve_arff(web, ARFF.replace(old, new))
    with pytest.raises(ValueError, match=f"The download of arff failed .*{reason}"):
        FROM_OPENML.load(cache=cache)
    assert files_in(cache) == []


def test_a_missing_target_column(web, cache):
    recipe = dataclasses.replace(FROM_OPENML.recipe, target="kind")
    with pytest.raises(ValueError, match="it has no column kind"):
        dataclasses.replace(FROM_OPENML, recipe=recipe).load(cache=cache)


# -- formats of the archive -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "delimiter", "expected"),
    [
        (b"1 2  3 \n4 5  6 \n", None, [[1, 2, 3], [4, 5, 6]]),  # a space at the end, as in sat.trn
        (b"  0  -3.639 2\n  1  1e-3 2\n", None, [[0, -3.639, 2], [1, 1e-3, 2]]),
        (b"-0.4394, -0.0930, 1.\n.5, 1, 26.\n", ",", [[-0.4394, -0.093, 1], [0.5, 1, 26]]),
    ],
)
def test_text_formats(lines, delimiter, expected, tmp_path):
    path = tmp_path / "table.txt"
    path.write_bytes(lines)
    table = download.read_uci(path, UCI("table.txt", delimiter=delimiter))
    np.testing.assert_array_equal(table.to_numpy(dtype=float), expected)

"""Downloads, from a server of this machine that can be made to fail in every way."""

import dataclasses
import hashlib
import http.server
import io
import json
import sys
import threading
import zipfile

import numpy as np
import pytest

from l1lsmi.datasets import load, remote
from l1lsmi.datasets.catalogue import CATALOGUE
from l1lsmi.datasets.compress import uncompress
from l1lsmi.datasets.entry import Archive, Entry, OpenML, Recipe
from l1lsmi.datasets.tables import read_arff

# Six rows; the middle column never changes, the last row has a missing value.
ARFF = """% made for a test
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

% a remark
4, 7, 'blue', 20, no
5, 7, green, 20, no
?, 7, green, 20, no
"""
OPENML_ENTRY = Entry(
    rows=5,
    columns=3,
    counts=(2, 3),
    source=OpenML(7),
    recipe=Recipe(
        target="class", labels=(("yes",), ("no",)), varying_only=True, complete_only=True, standardise=""
    ),
    class_names=("good", "bad"),
)
# Molecule, shape, two features, class: as the musk files are written.
ROWS = b"m-b,s1,A1,4,1.\nm-b,s2,A2,6,1.\nm-a,s1,A3,8,0.\n"
MORE = b"m-a,s2,A4,10,0.\n"
ARCHIVE_ENTRY = Entry(
    rows=4,
    columns=2,
    counts=(2, 2),
    source=Archive("small.zip", ("one.data", "two.data")),
    recipe=Recipe(
        labels=(("0",), ("1",)), leave_out=(1,), groups=0, prefix="A", feature_names=("code", "size")
    ),
    first_label=0,
    grouped_by="molecule",
)


@pytest.fixture
def web(monkeypatch):
    """Pages by their address, on a server that both sources are taken for."""
    pages: dict = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = pages.get(self.path)
            if page is None:
                self.send_error(404)
                return
            self.send_response(200)
            if pages.get("length") != "unknown":
                self.send_header("Content-Length", str(len(page) + pages.get("missing", 0)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setattr(remote, "OPENML_API", f"{address}api/")
        monkeypatch.setattr(remote, "UCI_ARCHIVE", address)
        pages["/api/7"] = about(f"{address}small.arff", hashlib.md5(ARFF.encode()).hexdigest())
        pages["/small.arff"] = ARFF.encode()
        pages["/small.zip"] = zipped({"top/one.data": ROWS, "top/two.data": MORE})
        yield pages
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("L1LSMI_DATA", raising=False)
    monkeypatch.setitem(CATALOGUE, "arff", OPENML_ENTRY)
    monkeypatch.setitem(CATALOGUE, "musky", ARCHIVE_ENTRY)
    return tmp_path / "cache"


def about(url, md5):
    return json.dumps({"data_set_description": {"url": url, "md5_checksum": md5}}).encode()


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name, contents in members.items():
            opened.writestr(name, contents)
    return stream.getvalue()


def assert_nothing_is_left(cache):
    assert not cache.exists() or list(cache.iterdir()) == []


# -- success ----------------------------------------------------------------------------------


def test_openml(web, cache):
    data = load("arff", cache=cache)
    # Words are numbered in the order of the source; categories that are numbers stay what they are.
    expected = [[1, 1, 10], [2, 2, 20], [3, 3, 10], [4, 3, 20], [5, 2, 20]]
    np.testing.assert_array_equal(data.X, expected)
    np.testing.assert_array_equal(data.y, [1, 2, 1, 2, 2])
    assert data.feature_names == ("a size", "colour", "grade") and data.class_names == ("good", "bad")
    assert data.X.dtype == np.float64 and data.y.dtype == np.int64
    assert data.source.startswith("OpenML 7, http") and hashlib.md5(ARFF.encode()).hexdigest() in data.source


def test_archive(web, cache):
    data = load("musky", cache=cache)
    # Codes 1 to 4 and sizes 4 to 10, evenly spaced: one standard deviation is sqrt(5/3) steps.
    steps = (np.arange(4) - 1.5) / np.sqrt(5 / 3)
    np.testing.assert_allclose(data.X, np.column_stack([steps, steps]), atol=1e-15)
    np.testing.assert_array_equal(data.y, [1, 1, 0, 0])
    np.testing.assert_array_equal(data.groups, [0, 0, 1, 1])
    assert data.feature_names == ("code", "size") and data.class_names == ("0", "1")
    assert hashlib.sha256(web["/small.zip"]).hexdigest() in data.source


def test_a_download_is_stored_and_not_repeated(web, cache):
    first = load("musky", cache=cache)
    web.clear()
    again = load("musky", cache=cache, download=False)
    assert [path.name for path in cache.iterdir()] == ["musky.npz"]
    for one, other in ((first.X, again.X), (first.y, again.y), (first.groups, again.groups)):
        np.testing.assert_array_equal(one, other)
    assert again.source == f"file {cache / 'musky.npz'}, from {first.source}"
    assert again.class_names == first.class_names and again.feature_names == first.feature_names


def test_a_table_that_is_no_archive(web, cache, monkeypatch):
    entry = Entry(
        rows=3,
        columns=1,
        source=Archive("table.txt", delimiter=None, skip=1, header=True),
        recipe=Recipe(target="goal", standardise="y"),
    )
    monkeypatch.setitem(CATALOGUE, "plain", entry)
    web["/table.txt"] = b"a heading\n  x goal\n 1.5  2\n 2.5\t4\n 3.5 6\n"
    data = load("plain", cache=cache)
    np.testing.assert_array_equal(data.X, [[1.5], [2.5], [3.5]])
    np.testing.assert_allclose(data.y, [-1, 0, 1])
    assert data.feature_names == ("x",) and data.task == "regression" and data.class_names is None


def test_many_at_once_end_with_one_file(web, cache):
    barrier, loaded = threading.Barrier(6), []

    def work():
        barrier.wait()
        loaded.append(load("musky", cache=cache))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 6
    assert all((data.X == loaded[0].X).all() for data in loaded)
    assert [path.name for path in cache.iterdir()] == ["musky.npz"]
    np.testing.assert_array_equal(load("musky", cache=cache, download=False).X, loaded[0].X)


@pytest.mark.parametrize("length", ["known", "unknown"])
def test_progress_is_shown_when_asked_for(web, cache, monkeypatch, capsys, length):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(remote, "CHUNK", 100)
    web["length"] = length
    load("musky", cache=cache)
    assert capsys.readouterr().err == ""
    load("musky", cache=cache / "other", verbose=1)
    lines = capsys.readouterr().err.splitlines()
    chunks = -(-len(web["/small.zip"]) // 100)
    assert len(lines) == chunks > 1
    last = f"megabyte {chunks} of at most {chunks}, musky, at most 0 s left"
    assert lines[-1] == (last if length == "known" else f"megabyte {chunks}, musky")


# -- failure ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arff", "musky"])
def test_offline(name, cache, monkeypatch, tmp_path):
    # Port 9 of this machine: nobody listens.
    monkeypatch.setattr(remote, "OPENML_API", "http://127.0.0.1:9/")
    monkeypatch.setattr(remote, "UCI_ARCHIVE", "http://127.0.0.1:9/")
    with pytest.raises(ConnectionError, match=r"the download failed: .*127\.0\.0\.1:9") as caught:
        load(name, cache=cache, directory=tmp_path)
    for part in (f"{name}.npz", str(tmp_path), str(cache), "L1LSMI_DATA", "Try again with a connection"):
        assert part in str(caught.value)
    assert_nothing_is_left(cache)


@pytest.mark.parametrize(
    ("name", "page"), [("arff", "/api/7"), ("arff", "/small.arff"), ("musky", "/small.zip")]
)
def test_a_page_that_is_gone(name, page, web, cache):
    del web[page]
    with pytest.raises(ConnectionError, match=f"{page} answers 404 Not Found"):
        load(name, cache=cache)
    assert_nothing_is_left(cache)


@pytest.mark.parametrize("name", ["arff", "musky"])
def test_a_connection_that_breaks_off(name, web, cache):
    web["missing"] = 10
    with pytest.raises(ConnectionError, match=r"it broke off after \d+ of \d+ bytes"):
        load(name, cache=cache)
    assert_nothing_is_left(cache)


def test_checksums_that_differ(web, cache, monkeypatch):
    web["/small.arff"] = web["/small.arff"].replace(b"5, 7, green", b"6, 7, green")
    with pytest.raises(ValueError, match=r"small.arff has md5 \w{32}, and \w{32} is expected"):
        load("arff", cache=cache)
    assert_nothing_is_left(cache)
    good = hashlib.sha256(web["/small.zip"]).hexdigest()
    for sha256, fits in (("0" * 64, False), (good, True)):
        source = dataclasses.replace(ARCHIVE_ENTRY.source, sha256=sha256)
        monkeypatch.setitem(CATALOGUE, "musky", dataclasses.replace(ARCHIVE_ENTRY, source=source))
        if fits:
            assert load("musky", cache=cache).X.shape == (4, 2)
        else:
            with pytest.raises(ValueError, match=f"has sha256 {good}, and 0{{64}} is expected"):
                load("musky", cache=cache)
            assert_nothing_is_left(cache)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"<html>", "does not say where the file is"),
        (b'{"error": {"code": "111"}}', "does not say where the file is"),
        (about("file:///etc/passwd", "0" * 32), "is no address on the web"),
    ],
)
def test_answers_of_openml_that_are_none(answer, reason, web, cache):
    web["/api/7"] = answer
    with pytest.raises(ValueError, match=reason):
        load("arff", cache=cache)
    assert_nothing_is_left(cache)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"no archive at all", "it is no zip archive"),
        (zipped({"one.data": ROWS}), "there is no two.data in it"),
        (zipped({"one.data": ROWS, "two.data": b""}), "it is empty"),
        (zipped({"one.data": ROWS, "two.data": MORE + MORE}), "it has 5 rows and 2 columns, and 4 and 2"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"0.", b"1.")}), r"have \(1, 3\) rows"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"0.", b"2.")}), "'2' is none of its classes"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"A4", b"B4")}), "'A1', which is no number"),
        (zipped({"one.data": ROWS, "two.data": MORE.replace(b"10", b"nan")}), "missing or infinite"),
        (zipped({"one.data": ROWS + b"m-c,s1\n", "two.data": MORE}), "do not all have the same number"),
        (zipped({"one.data": ROWS, "two.data": b"1,2\n"}), "do not have the same number of columns"),
        (zipped({"one.data.Z": b"\x1f\x9d\x90\xff\xff\xff", "two.data": MORE}), "it is a damaged .Z file"),
    ],
)
def test_archives_that_are_not_what_is_expected(page, reason, web, cache):
    web["/small.zip"] = page
    with pytest.raises(ValueError, match=f"small.zip is not the musky that is expected: .*{reason}"):
        load("musky", cache=cache)
    assert_nothing_is_left(cache)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("5, 7, green, 20, no\n", "5, 7, green\n", "do not have the 5 values that it announces"),
        ("5, 7, green", "5, 7, pink", "column 3 holds 'pink'"),
        ("5, 7, green, 20, no", "5, 7, green, 20, maybe", "'maybe' is none of its classes"),
        ("Class {no, yes}", "kind {no, yes}", "it has no column class"),
        ("2, 7, green", "2, 8, green", "it has 5 rows and 4 columns"),
    ],
)
def test_arff_files_that_are_not_what_is_expected(old, new, reason, web, cache):
    changed = ARFF.replace(old, new).encode()
    assert changed != ARFF.encode()
    web["/small.arff"] = changed
    url = json.loads(web["/api/7"])["data_set_description"]["url"]
    web["/api/7"] = about(url, hashlib.md5(changed).hexdigest())
    with pytest.raises(ValueError, match=f"small.arff is not the arff that is expected: .*{reason}"):
        load("arff", cache=cache)
    assert_nothing_is_left(cache)


# -- formats ----------------------------------------------------------------------------------


def compress(data, clear_after=None):
    """Lempel-Ziv-Welch codes as the Unix program writes them, one bit at a time."""
    bits, group, width = "", "", 9
    table = {bytes([i]): i for i in range(256)}
    size, n_codes, word = 257, 0, b""

    def write(code):
        nonlocal group
        group += format(code, f"0{width}b")[::-1]

    def pad():
        nonlocal bits, group
        bits += group + "0" * (-len(group) % (8 * width))
        group = ""

    for letter in (data[i : i + 1] for i in range(len(data))):
        if word + letter in table:
            word += letter
            continue
        write(table[word])
        n_codes += 1
        if size >= 1 << width and width < 16:
            pad()
            width += 1
        if size < 1 << 16:
            table[word + letter], size = size, size + 1
        word = letter
        if n_codes == clear_after:
            write(256)
            pad()
            table, size, width = {bytes([i]): i for i in range(256)}, 257, 9
    if word:
        write(table[word])
    bits += group
    bits += "0" * (-len(bits) % 8)
    return b"\x1f\x9d\x90" + bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))


def test_z_files_of_the_unix_program():
    # Made by ncompress 5.0.
    assert uncompress(bytes.fromhex("1f9d9061c48400")) == b"ab!"


@pytest.mark.parametrize("n_letters", [2, 60, 256])
@pytest.mark.parametrize("n", [0, 1, 255, 3000, 40000])
@pytest.mark.parametrize("clear_after", [None, 1, 700])
def test_z_files_come_back(n_letters, n, clear_after):
    data = np.random.default_rng(n).integers(0, n_letters, size=n, dtype=np.uint8).tobytes()
    assert uncompress(compress(data, clear_after)) == data


def test_z_files_inside_an_archive(web, cache):
    web["/small.zip"] = zipped({"one.data.Z": compress(ROWS), "two.data.Z": compress(MORE)})
    np.testing.assert_array_equal(load("musky", cache=cache).y, [1, 1, 0, 0])


def test_arff_names_and_words_with_quotes():
    table = read_arff("@attribute \"an x\" real\n@attribute 'it''s' {'a, b', c}\n@data\n1e3,'a, b'\n-2,c\n")
    assert table.names[0] == "an x" and table.categories == {1: ("a, b", "c")}
    np.testing.assert_array_equal(table.columns[0], [1000, -2])
    assert table.columns[1].tolist() == ["a, b", "c"]

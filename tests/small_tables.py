"""One small table, and how each format is written."""

import gzip
import io

import numpy as np
import pytest

from l1lsmi.files import DataTable, read_table

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")
openpyxl = pytest.importorskip("openpyxl")
scipy_io = pytest.importorskip("scipy.io")

N = 30
RNG = np.random.default_rng(0)
GENES = {f"gene {j}": RNG.normal(size=N).round(3) for j in range(4)} | {"count": np.arange(N) % 7 * 1.0}
GENES["gene 1"][[3, 17]] = np.nan
LABELS = np.array(["ill", "well", "well"])[np.arange(N) % 3]


def text(table: str, **options) -> DataTable:
    return read_table(io.BytesIO(table.encode()), **options)


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def words_of(values):
    return ["" if value != value else str(value) for value in values.tolist()]


def as_text(path, delimiter=","):
    columns = [words_of(values) for values in (*GENES.values(), LABELS)]
    rows = [delimiter.join([*GENES, "state"]), *map(delimiter.join, zip(*columns, strict=True))]
    path.write_text("\n".join(rows) + "\n")


def as_gzip(path):
    as_text(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def arrow_table():
    arrays = [pa.array(values, from_pandas=True) for values in GENES.values()]
    return pa.table([*arrays, pa.array(LABELS).dictionary_encode()], names=[*GENES, "state"])


def as_stream(path):
    with pa.ipc.new_stream(path, arrow_table().schema) as stream:
        stream.write_table(arrow_table(), max_chunksize=7)


def as_excel(path):
    workbook = openpyxl.Workbook()
    workbook.create_sheet("empty")
    workbook.active.append([*GENES, "state"])
    for row in zip(*GENES.values(), LABELS, strict=True):
        workbook.active.append([None if cell != cell else cell for cell in map(plain, row)])
    workbook.save(path)


def plain(cell):
    return cell.item() if hasattr(cell, "item") else cell


def as_npz(path):
    np.savez_compressed(path, X=np.column_stack([*GENES.values()]), feature_names=[*GENES], state=LABELS)


def as_columns_npz(path):
    np.savez(path, **GENES, state=LABELS)


def cells_of(words):
    array = np.empty((1, len(words)), dtype=object)
    array[0] = list(words)
    return array


def as_mat(path):
    X = np.column_stack([*GENES.values()])
    content = {"X": X, "feature_names": cells_of(GENES), "state": cells_of(LABELS), "about": {"a": 1}}
    scipy_io.savemat(path, content)


def as_new_mat(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = np.column_stack([*GENES.values()]).T
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
        for name, words in (("feature_names", GENES), ("state", LABELS)):
            references = []
            for index, word in enumerate(words):
                codes = np.array([[ord(letter)] for letter in word], "u2")
                letters = file.create_dataset(f"#refs#/{name}{index}", data=codes)
                letters.attrs["MATLAB_class"] = np.bytes_("char")
                references.append(letters.ref)
            cells = file.create_dataset(name, data=np.array(references, dtype=h5py.ref_dtype)[:, None])
            cells.attrs["MATLAB_class"] = np.bytes_("cell")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(128))


def as_h5ad(path, wrap=np.asarray):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    names = [f"cell {i}" for i in range(N)]
    cells = pandas.DataFrame({"state": pandas.Categorical(LABELS), "batch": np.arange(N) % 2}, index=names)
    genes = pandas.DataFrame(index=[*GENES])
    anndata.AnnData(wrap(np.column_stack([*GENES.values()])), obs=cells, var=genes).write_h5ad(path)


def as_sparse_h5ad(path):
    from scipy.sparse import csr_matrix

    as_h5ad(path, csr_matrix)


WRITERS = {
    "table.csv": as_text,
    "table.csv.gz": as_gzip,
    "table.tsv": lambda path: as_text(path, "\t"),
    "semicolon.csv": lambda path: as_text(path, ";"),
    "bar.txt": lambda path: as_text(path, "|"),
    "table.parquet": lambda path: parquet.write_table(arrow_table(), path, row_group_size=9),
    "table.feather": lambda path: feather.write_feather(arrow_table(), path),
    "stream.arrow": as_stream,
    "table.xlsx": as_excel,
    "table.npz": as_npz,
    "columns.npz": as_columns_npz,
    "table.mat": as_mat,
    "new.mat": as_new_mat,
    "table.h5ad": as_h5ad,
    "sparse.h5ad": as_sparse_h5ad,
}

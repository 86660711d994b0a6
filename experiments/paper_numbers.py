"""The numbers printed in the paper.

A cell ``.73/.04``, which the paper prints as 0.73 (.04), is a mean and a standard deviation over 50 trials,
both rounded to two decimals; ``*`` marks the paper's bold face: the best of the row, or not
significantly worse than the best.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TRIALS = 50
# Half a unit of the last printed digit: the largest rounding error.
ROUNDING = 0.005


class Printed(NamedTuple):
    """One cell of a table of the paper."""

    mean: float
    sd: float
    bold: bool

    def text(self) -> str:
        """As the paper prints it, bold in Markdown."""
        text = f"{self.mean:.2f} ({f'{self.sd:.2f}'.removeprefix('0')})"
        return f"**{text}**" if self.bold else text

    def within(self, mean: float, deviations: float = 2.0) -> bool:
        """Whether a mean is within some standard deviations, up to the rounding of the printed digits.

        A printed standard deviation s can be anything up to s + 0.005, and a printed mean off by 0.005.
        """
        return abs(mean - self.mean) <= deviations * (self.sd + ROUNDING) + ROUNDING


class Row(NamedTuple):
    """One dataset of the paper's table of 22."""

    task: str
    n_features: int
    n_rows: int
    k: int
    cells: dict[str, Printed | None]


# Columns of the two tables, and the corresponding method of this package.
TOY_COLUMNS = {
    "PC": "pc",
    "F-HSIC": "f_hsic",
    "F-LSMI": "f_lsmi",
    "B-HSIC": "b_hsic",
    "B-LSMI": "b_lsmi",
    "l1-HSIC": "l1_hsic",
    "l1-LSMI": "l1_lsmi",
    "mRMR": "mrmr",
    "QPFS": "qpfs",
    "Lasso": "lasso",
    "Relief": "relief",
}
REAL_COLUMNS = {label: name for label, name in TOY_COLUMNS.items() if not label.startswith("B-")}
# The paper's column of every method that has one; two columns have two methods.
COLUMN_OF = {
    **{name: label for label, name in TOY_COLUMNS.items()},
    "l1_hsic_paper": "l1-HSIC",
    "l1_lsmi_paper": "l1-LSMI",
}

_TOYS = """
and_or .25/.00 .25/.00 .57/.22 .25/.00 .85/.22 .25/.00 *1.00/.00 .25/.00 .41/.17 .21/.09 .55/.15
quad   .57/.20 .95/.15 *1.00/.00 .95/.15 *1.00/.00 .64/.23 *1.00/.00 *1.00/.00 .64/.23 .66/.25 *1.00/.00
xor    .25/.31 .52/.50 .53/.50 *1.00/.00 *1.00/.00 *1.00/.00 *1.00/.00 .28/.31 .25/.32 .26/.32 *1.00/.00
"""

_SUBSETS = """
1 2 3 4 .496; 1 2 3 8 .365; 1 2 3 9 .381; 1 2 3 10 .357; 1 2 4 8 .376; 1 2 4 9 .384; 1 2 4 10 .372;
1 2 8 9 .346; 1 2 8 10 .330; 1 2 9 10 .336; 1 3 4 8 .382; 1 3 4 9 .376; 1 3 4 10 .392; 1 3 8 9 .325;
1 3 8 10 .330; 1 3 9 10 .333; 1 4 8 9 .342; 1 4 9 10 .341; 2 3 4 8 .367; 2 3 4 9 .382; 2 3 4 10 .390;
2 3 8 9 .341; 2 3 8 10 .312; 2 3 9 10 .322; 2 4 8 9 .340; 2 4 8 10 .328; 2 4 9 10 .328; 3 4 8 9 .356;
3 4 8 10 .349; 3 4 9 10 .353; 1 8 9 10 .330; 2 8 9 10 .334; 3 8 9 10 .303; 4 8 9 10 .335
"""
TRUE_SUBSET = (1, 2, 3, 4)

# data set, task, features, rows of a trial, k, then the nine columns
_REAL = """
abalone R 8 400 4        .73/.04  .74/.04  .70/.05  .73/.04  .70/.05  .73/.05  .75/.04  .70/.04 *.69/.04
bcancer C2 9 277 4       .24/.00  .24/.00  .23/.01 *.23/.00 *.23/.01  .25/.00  .23/.00  .24/.00  .26/.00
glass C6 9 214 4         .29/.00 *.28/.00  .30/.01  .30/.01  .30/.01  .30/.00  .29/.00       --  .31/.00
housing R 13 400 4      4.03/.19 4.14/.20 4.20/.21 3.95/.20*3.91/.19 3.97/.20 4.11/.23 4.14/.27 4.10/.21
vowel C11 13 400 4      *.20/.02  .23/.03  .24/.03  .20/.02  .21/.02 *.20/.02  .20/.02       --  .21/.02
wine C3 13 178 4         .03/.00  .03/.00 *.03/.01  .03/.01 *.03/.01  .03/.00  .03/.00       --  .03/.00
image C2 18 400 4        .10/.01  .19/.03  .17/.03  .13/.03  .06/.02  .14/.02  .11/.02  .11/.02 *.05/.01
segment C7 18 400 4      .19/.03  .24/.03  .17/.02  .11/.03 *.05/.01 *.05/.01  .08/.03       --  .13/.02
vehicle C4 18 400 4      .32/.02  .33/.03 *.28/.02  .34/.03 *.27/.02  .39/.05  .39/.05       --  .32/.04
german C2 20 400 4      *.25/.02  .29/.01  .29/.02  .25/.02 *.25/.02  .25/.02  .25/.02  .25/.02  .26/.02
cpuact R 21 400 4        .25/.03  .33/.12  .28/.07  .54/.31 *.25/.16 *.23/.06  .27/.04  .26/.04  .37/.09
ionosphere C2 33 351 4   .07/.00 *.07/.00  .08/.01  .07/.00  .07/.00  .09/.00  .07/.00  .07/.00  .07/.00
satimage C6 36 400 10    .22/.02  .14/.01 *.13/.02  .14/.02 *.13/.02  .14/.01  .14/.02       --  .16/.02
spectf C2 44 267 10      .19/.00  .17/.00 *.17/.01  .19/.01 *.17/.01  .18/.00  .18/.00  .18/.00  .18/.00
senseval2 C3 50 400 10  *.18/.01  .18/.01  .18/.02  .19/.02 *.18/.01  .18/.01 *.18/.01       --  .21/.01
speech C2 50 400 10      .01/.00  .01/.00  .01/.00  .01/.00  .01/.00  .02/.00  .01/.00 *.01/.00  .03/.00
sonar C2 60 400 10       .23/.00  .22/.00 *.14/.02  .21/.02  .16/.02  .18/.00  .19/.00  .16/.00  .19/.00
msd R 90 400 10          .95/.06  .94/.06 *.92/.06  .94/.06  .93/.06  .97/.06  .94/.06 *.92/.06  .96/.06
musk1 C2 166 400 20      .19/.02  .17/.02  .14/.02  .16/.02  .16/.02  .15/.02  .18/.02 *.13/.01  .19/.03
musk2 C2 166 400 20      .09/.01  .08/.01 *.07/.01  .09/.01  .08/.01  .09/.01  .09/.02  .07/.01  .09/.01
ctslices R 379 400 20    .79/.07       --       --  .64/.05  .60/.07  .45/.04  .46/.02 *.41/.03  .56/.05
isolet C26 617 400 20    .54/.03       --       --  .36/.04 *.27/.03  .30/.03  .30/.03       --  .49/.03
"""

TOP_COUNTS = dict(zip(REAL_COLUMNS, (3, 2, 7, 1, 11, 3, 1, 4, 2), strict=True))

# The panels of the figure of error against k, in its order, and the methods that it draws.
FIGURE_DATASETS = (
    "image", "german", "cpuact", "segment", "wine", "flaresolar", "spectf", "satimage", "vehicle", "sonar",
    "speech", "senseval2", "musk1", "musk2",
)  # fmt: skip
FIGURE_METHODS = ("pc", "l1_hsic", "l1_lsmi", "mrmr", "qpfs", "lasso", "relief")


def _cells(text: str) -> list[Printed | None]:
    found = re.findall(r"--|\*?\d?\.\d\d/\.\d\d", text)
    return [None if cell == "--" else _cell(cell) for cell in found]


def _cell(text: str) -> Printed:
    mean, sd = text.removeprefix("*").split("/")
    return Printed(float(mean), float(sd), text.startswith("*"))


def _real(line: str) -> tuple[str, Row]:
    name, task, m, n, k, rest = line.split(maxsplit=5)
    return name, Row(task, int(m), int(n), int(k), dict(zip(REAL_COLUMNS, _cells(rest), strict=True)))


def _subset(text: str) -> tuple[tuple[int, ...], float]:
    *columns, value = text.split()
    return tuple(map(int, columns)), float(value)


TOYS: dict[str, dict[str, Printed | None]] = {
    line.split()[0]: dict(zip(TOY_COLUMNS, _cells(line), strict=True)) for line in _TOYS.strip().splitlines()
}
# Columns count from 1, as printed. The caption mentions 35 subsets; 34 are printed, {1, 4, 8, 10} is not.
SUBSETS: dict[tuple[int, ...], float] = dict(_subset(text) for text in _SUBSETS.split(";"))
REAL: dict[str, Row] = dict(_real(line) for line in _REAL.strip().splitlines())

"""Whether the search or the score is to blame for a loss, on a problem where it is known."""

from types import SimpleNamespace

import pytest

from experiments import losses
from experiments.real_tables import protocols_of
from experiments.summary import OURS
from l1lsmi.datasets import make_xor
from tests.made_up_results import trials, write

TRUE, NOISE = [0, 1, 2, 3], [4, 5, 6, 7]


@pytest.fixture
def one_sitting(monkeypatch):
    def sittings_of(unit):
        X, y = make_xor(150, random_state=unit.trial)
        return [SimpleNamespace(protocol="paper", train=SimpleNamespace(X=X, y=y))]

    monkeypatch.setattr(losses, "sittings_of", sittings_of)


@pytest.mark.parametrize(("ours", "theirs", "missed"), [(NOISE, TRUE, 3), (TRUE, NOISE, 0)])
def test_a_better_set_that_was_not_found_is_told_from_a_score_that_errs(one_sitting, ours, theirs, missed):
    rows = trials("sonar", OURS, [0.4, 0.4, 0.5], selected=ours)
    rows += trials("sonar", "mrmr", [0.2, 0.2, 0.2], selected=theirs)
    (errors,) = protocols_of(rows)
    assert losses.judged(errors, "sonar", "mrmr") == (missed, 3)


def test_the_same_set_is_no_evidence(one_sitting):
    rows = trials("sonar", OURS, [0.4, 0.4, 0.5], selected=TRUE)
    rows += trials("sonar", "mrmr", [0.2, 0.2, 0.2], selected=TRUE[::-1])
    (errors,) = protocols_of(rows)
    assert losses.judged(errors, "sonar", "mrmr") == (0, 0)


def test_the_table_names_dataset_and_winner(one_sitting, tmp_path, capsys):
    rows = trials("sonar", OURS, [0.4, 0.4, 0.5], selected=NOISE)
    rows += trials("sonar", "mrmr", [0.2, 0.2, 0.2], selected=TRUE)
    write(tmp_path, "real", rows)
    losses.main(tmp_path)
    assert "| sonar | paper protocol | mRMR | 3 of 3 |" in capsys.readouterr().out

"""Whether the search or the score explains a loss, on a problem where the answer is known."""

from types import SimpleNamespace

import pytest

from experiments import losses
from experiments.real_tables import errors_by_protocol
from experiments.summary import OURS
from l1lsmi.datasets import make_xor
from tests.made_up_results import trials, write

TRUE, NOISE = [0, 1, 2, 3], [4, 5, 6, 7]


@pytest.fixture
def one_protocol(monkeypatch):
    def protocols_of(config, dataset, trial):
        X, y = make_xor(150, random_state=trial)
        return [SimpleNamespace(name="paper", train=SimpleNamespace(X=X, y=y))]

    monkeypatch.setattr(losses, "protocols_of", protocols_of)


@pytest.mark.parametrize(("ours", "theirs", "missed"), [(NOISE, TRUE, 3), (TRUE, NOISE, 0)])
def test_trials_where_the_search_missed_a_better_set(one_protocol, ours, theirs, missed):
    rows = trials("sonar", OURS, [0.4, 0.4, 0.5], selected=ours)
    rows += trials("sonar", "mrmr", [0.2, 0.2, 0.2], selected=theirs)
    (errors,) = errors_by_protocol(rows)
    assert losses.compare_sets(errors, "sonar", "mrmr") == (missed, 3)


def test_equal_sets_are_not_counted(one_protocol):
    rows = trials("sonar", OURS, [0.4, 0.4, 0.5], selected=TRUE)
    rows += trials("sonar", "mrmr", [0.2, 0.2, 0.2], selected=TRUE[::-1])
    (errors,) = errors_by_protocol(rows)
    assert losses.compare_sets(errors, "sonar", "mrmr") == (0, 0)


def test_the_table_names_dataset_and_winner(one_protocol, tmp_path, capsys):
    rows = trials("sonar", OURS, [0.4, 0.4, 0.5], selected=NOISE)
    rows += trials("sonar", "mrmr", [0.2, 0.2, 0.2], selected=TRUE)
    write(tmp_path, "real", rows)
    losses.main(tmp_path)
    assert "| sonar | paper protocol | mRMR | 3 of 3 |" in capsys.readouterr().out

"""How good a set of features is, and how methods that choose them compare."""

from l1lsmi.evaluation.protocols import SVMError, held_out_error, split_rows, svm_error

__all__ = ["svm_error", "held_out_error", "split_rows", "SVMError"]

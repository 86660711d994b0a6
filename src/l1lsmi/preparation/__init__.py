"""Prepare tables of any kind for a selector: one column for each feature, of a suitable type."""

from l1lsmi.preparation.table_preparation import TablePreparation

__all__ = ["TablePreparation"]

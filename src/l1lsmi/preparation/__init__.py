"""Tables of any kind made ready for a selector: one column for each feature, of a proper type."""

from l1lsmi.preparation.table_preparation import TablePreparation

__all__ = ["TablePreparation"]

"""Cells of a column: what they are read as, which is learned from some rows and applied to others."""

"""Data as blocks of rows, and the two sums over rows that every step needs.

:class:`Table` standardises what is taken from it. :class:`FoldedRows` deals the rows out in blocks that
are laid out fold by fold, so that every quantity of the method is a sum over blocks of small arrays;
:class:`PartedRows` does the same with rows that do not fit the memory or are elsewhere, a part at a time.
Both kinds of parts are also visited in pairs (``sum_pairs``), for sums over pairs of rows.
Weighted distances leave a block through :meth:`FoldedBlock.exponents`, gradients come back through
:meth:`FoldedBlock.pull_back`, and nothing else touches the rows.
"""

"""Data as blocks of rows, and the sums over rows that every step needs.

`table.Table` is a feature matrix in memory, `out_of_core.OutOfCoreTable` one that is on disk or on a cluster;
`table.RowTable` is what the numerics need of either. `layout.lay_out_rows` deals the rows out in blocks, fold
by fold, so that every quantity of the method is a sum over blocks of small arrays (``rows.sum(term, ...)``):
cached in memory (`blocks.CachedRows`) or read again for every sum (`layout.UncachedRows`). Weighted
distances leave a block through `blocks.Block.exponents`, gradients come back through
`blocks.Block.pull_back`. Sums over pairs of rows go through ``Parts.sum_pairs``.
"""

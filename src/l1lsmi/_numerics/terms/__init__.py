r"""Terms: effects of single columns, of pairs and of triples, from sums over all rows.

With functions :math:`\varphi_{ja}` of column j and functions :math:`\psi_b` of the target that are
orthonormal and have mean 0, the squared-loss mutual information of independent columns is a sum of squares of
:math:`E[\varphi_{ja}\cdots\varphi_{lc}\,\psi_b]` over all products of functions. A term is the part of
that sum that belongs to some functions of one, two or three columns; n times an estimate of it is
chi-squared where there is no dependence. Terms see weak effects among many columns, at the cost of a few
matrix products; what columns have in common is taken out by least squares.

- `columns`: functions of the columns, from bins between quantiles;
- `families`: which terms there are, and how large they are by chance;
- `sums`: the sums over rows;
- `normal_equations`: least squares on some terms, which enter and leave one at a time;
- `selection`: features are chosen by what their terms explain, and exchanged one and two at a time;
- `target_functions`: functions of the target;
- `search`: the passes over rows, from sizes of terms to the set of k features.
"""

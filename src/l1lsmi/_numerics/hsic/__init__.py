"""The Hilbert-Schmidt independence criterion: sums over pairs of rows."""

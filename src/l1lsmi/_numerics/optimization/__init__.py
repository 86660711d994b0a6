"""Ascent inside an l1 ball, the search for its radius, and exchanges of features."""

"""Columns that give away the target, that number sorted rows, and that are copies of each other."""

from l1lsmi._numerics.leaks.leaks import Leaks, find_leaks

__all__ = ["Leaks", "find_leaks"]

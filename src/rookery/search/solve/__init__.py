"""Exact solvers: who wins with best play, proven."""

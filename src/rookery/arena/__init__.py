"""Players, matches, ratings and the ledger that keeps them."""

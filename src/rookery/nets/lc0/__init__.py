"""Networks of Leela Chess Zero: their files, and the same arithmetic in PyTorch."""

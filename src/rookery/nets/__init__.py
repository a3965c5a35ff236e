"""Networks: their shapes, their files. They know nothing of games."""

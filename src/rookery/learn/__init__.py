"""From play to a better network."""

"""The studies: recipes over everything above, and their settings."""

"""Our players as engines: protocols by which other programs play against them."""

"""Work on other machines, by Ray."""

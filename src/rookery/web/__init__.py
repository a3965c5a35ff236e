"""The pages: play in a browser. Everything is served from this machine, and nothing is asked of another."""

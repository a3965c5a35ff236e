"""Looking into networks: what can be read from their layers."""

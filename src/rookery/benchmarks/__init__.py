"""What `rookery bench` runs. Figures are comparable only within one run: machines are noisy."""

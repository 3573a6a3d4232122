"""The control interface under ``/_sandbox``: health, the clock, the rest of the world and more."""

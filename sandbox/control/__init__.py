"""The control interface under ``/_sandbox``: health, assumptions, reset and the clock."""

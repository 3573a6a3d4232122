"""HTTP: rows of endpoints, the one path every request takes, and the server in front."""

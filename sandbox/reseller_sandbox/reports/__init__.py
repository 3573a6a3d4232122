"""Coverage reports as JSON, lines and a page, and the tables of all commands."""

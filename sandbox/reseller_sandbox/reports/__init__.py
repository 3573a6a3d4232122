"""Reports on coverage as JSON, lines for a terminal, and a page; and the tables that all commands print."""

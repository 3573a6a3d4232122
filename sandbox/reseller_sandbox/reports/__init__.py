"""Reports: the coverage, the findings of tools, failed tests, and the tables that commands print."""

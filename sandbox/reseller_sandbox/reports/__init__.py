"""What is written about coverage: JSON for programs, lines for a terminal, and a page to look at."""

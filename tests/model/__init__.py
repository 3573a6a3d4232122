"""A second implementation of the registry, and tests that compare the sandbox with it."""

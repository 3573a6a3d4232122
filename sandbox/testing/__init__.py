"""Help for the tests of those who build on the reseller API: pytest fixtures and HTTP adapters."""

"""The v2.0 interface: authenticated by token, and the only one with customers, restores and zones."""

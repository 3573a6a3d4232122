"""The v3 interface: signature-authenticated, 27 operations under ``/v3``."""

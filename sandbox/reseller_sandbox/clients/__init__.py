"""HTTP clients of a sandbox: Flask's test client, and adapters for httpx, requests, urllib3 and aiohttp."""

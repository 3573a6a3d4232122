"""HTTP clients of a sandbox: Flask's test client, httpx and requests, in process or through a server."""

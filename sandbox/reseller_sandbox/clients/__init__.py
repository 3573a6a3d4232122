"""HTTP clients of a sandbox: the test client, httpx and requests, in this process or through a server."""

"""The HTTP server, based on uvicorn: connections, TLS and response delivery. It knows no API operation."""

"""The network server: uvicorn, connections and response delivery. It does not depend on API operations."""

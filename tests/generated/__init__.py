"""Clients that generators make of the OpenAPI documents, and requests that schemathesis does."""

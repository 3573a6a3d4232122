"""HTTP: endpoints, and the pipeline that handles every request."""

"""HTTP: declared endpoints and the pipeline that every request takes."""

"""The socket's side: uvicorn, one connection, what becomes of an answer on its way. It knows no operation."""

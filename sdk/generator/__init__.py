"""Writes what both SDKs take from the API's own description, and the blocking half of the Python SDK."""

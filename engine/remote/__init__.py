"""Engines elsewhere: a server with OpenAI's HTTP API behind the same port as the local engine."""

"""The local HTTP API: other programs talk to the same model and cache as the window, in OpenAI's and Anthropic's shape.

A call goes through the guard (who may ask), bodies (whether it is what openapi.json says), one of the shapes (their
fields to the engine's request, its events to their answer), and the desk (the one place that asks the engine).
"""

"""Software for the graphics card, which a user may have installed beside a Headstart that an installer brought.

The installers bring torch's build for the CPU. On request `uv` installs another one, with a Python of its own, into the
user's data (install); `trial` compares what the card computes with the CPU's numbers; from then on the installed
program starts itself in that Python (launch), and goes back to the CPU where that is damaged.
"""

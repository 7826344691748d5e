"""One conversation as a state machine, from a question to its kept answer. No widgets."""

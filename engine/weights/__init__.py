"""How the numbers of a weight matrix lie in memory, and products with them."""

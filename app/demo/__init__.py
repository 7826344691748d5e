"""`headstart demo`: scripts played in the real window, and the report they leave."""

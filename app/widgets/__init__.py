"""Widgets that several rooms of the window share."""

"""Conversations as files of other kinds and of other programs, and a backup of everything. No Qt."""

"""Captures of packets: read into connections, and what can be told from them."""

"""Draws a ledger: figures, tables and an index. Run as `python3 scripts/report DIR`."""

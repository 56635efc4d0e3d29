"""What a ledger holds: records, cells, settings, the numbers that they give."""

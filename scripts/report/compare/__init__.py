"""Two ledgers beside each other."""

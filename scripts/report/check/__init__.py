"""`feedrate validate`: the report and its ledger derived again."""

"""The figures: one module and one row of the registry each."""

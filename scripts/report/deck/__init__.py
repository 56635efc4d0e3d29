"""The slides."""

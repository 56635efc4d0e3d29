"""The answer in words, in every medium the same."""

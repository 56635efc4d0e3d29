"""What the numbers say, and what they do not."""

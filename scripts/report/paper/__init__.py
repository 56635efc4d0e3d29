"""What a paper takes, and the files of text."""

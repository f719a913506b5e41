"""What text is: reading, tokenizing, holding and streaming it."""

"""What the tools promise: programs run against worlds, and what is found in what they leave."""

"""What transcripts of a real service tell of the silences of the contract; nothing is sent anywhere."""

"""What a training learns from, stops by and is tested on, with everything left out named."""

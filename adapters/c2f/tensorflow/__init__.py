"""TensorFlow's checkpoint files, read without TensorFlow."""

"""What is measured of trained systems, and how two trainings compare."""

"""Training, from data and settings to scored classifiers with their spread over seeds."""

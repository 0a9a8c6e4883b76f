"""One module or folder for each task's scores."""

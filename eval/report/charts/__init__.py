"""The charts of the page: from numbers to SVG."""

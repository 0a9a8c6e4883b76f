"""Where weights lie and how they are opened, once for all systems."""

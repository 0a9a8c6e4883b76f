"""Systems in another process or on another machine: commands, servers, own environments."""

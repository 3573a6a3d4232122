"""Command line: ``main`` is the command ``reseller-sandbox``, other modules are its subcommands."""

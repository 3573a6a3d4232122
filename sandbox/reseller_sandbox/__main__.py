"""Runs the command line as ``python -m reseller_sandbox``."""

from reseller_sandbox.cli.main import main

if __name__ == "__main__":
    main()

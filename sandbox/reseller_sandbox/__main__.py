"""``python -m reseller_sandbox`` is the command line."""

from reseller_sandbox.cli.main import main

if __name__ == "__main__":
    main()

"""Who may come in: the accounts of the interfaces, and those who steer the sandbox."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import Category, Rule

CREDENTIALS_MISSING = Rule(
    "credentials_missing", Category.UNAUTHENTICATED, "The request lacks {missing}{instead}.", "send {missing}"
)
UNKNOWN_KEY = Rule(
    "unknown_key",
    Category.UNAUTHENTICATED,
    "No account has the API key{shown}: {reason}.",
    "use the key of one of the world's accounts",
)
SIGNATURE_MISMATCH = Rule(
    "signature_mismatch",
    Category.UNAUTHENTICATED,
    "The signature is not the one expected. {explanation}",
    "sign the string that the message names, with the account's secret",
)
TOKEN_MISSING = Rule(
    "token_missing",
    Category.UNAUTHENTICATED,
    "The request carries no {header} header{instead}.",
    "send {header}",
)
UNKNOWN_TOKEN = Rule(
    "unknown_token",
    Category.UNAUTHENTICATED,
    "No account has this token: {reason}.",
    "use the token of one of the world's accounts",
)

CROSS_SITE = Rule(
    "cross_site",
    Category.FORBIDDEN,
    "A page of {origin} sent this, and control answers no pages but its own and those of a {setting}.",
    "send it from elsewhere than a page, or name the page's origin as a {setting}",
)
FOREIGN_HOST = Rule(
    "foreign_host",
    Category.FORBIDDEN,
    "The request was sent to {host!r}, a name that could be anybody's; use the server's address, or "
    "localhost, or start it with {settings}.",
    "send it to the server's address or to localhost, or start the server with {settings}",
)
CONTROL_TOKEN_MISSING = Rule(
    "control_token_missing",
    Category.UNAUTHENTICATED,
    "Control wants its token here: send it as {header}.",
    "send the control token as {header}",
)
CONTROL_TOKEN_WRONG = Rule(
    "control_token_wrong",
    Category.FORBIDDEN,
    "{header} is not the control token.",
    "send the token that the server was started with as {header}",
)

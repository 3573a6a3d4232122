"""Who may come in: the accounts of the interfaces, and those who steer the sandbox."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import forbidden, unauthenticated

CREDENTIALS_MISSING = unauthenticated(
    "credentials_missing", "The request lacks {missing}{instead}.", "send {missing}"
)
UNKNOWN_KEY = unauthenticated(
    "unknown_key",
    "No account has the API key {key!r}: {reason}.",
    "use the key of one of the world's accounts",
)
SIGNATURE_MISMATCH = unauthenticated(
    "signature_mismatch",
    "The signature is not the one expected. {explanation}",
    "sign the API key, the URL and the body, in this order, with the account's secret",
)
TOKEN_MISSING = unauthenticated(
    "token_missing", "The request carries no {header} header{instead}.", "send {header}"
)
UNKNOWN_TOKEN = unauthenticated(
    "unknown_token",
    "No account has the token {token!r}: {reason}.",
    "use the token of one of the world's accounts",
)

CROSS_SITE = forbidden(
    "cross_site",
    "A page of {origin} sent this, and control answers no pages but its own and those of a {setting}.",
    "send it from elsewhere than a page, or name the page's origin as a {setting}",
)
FOREIGN_HOST = forbidden(
    "foreign_host",
    "The request was sent to {host!r}, a name that could be anybody's; use the server's address, or "
    "localhost, or start it with {settings}.",
    "send it to the server's address or to localhost, or start the server with {settings}",
)
CONTROL_TOKEN_MISSING = unauthenticated(
    "control_token_missing",
    "Control wants its token here: send it as {header}.",
    "send the control token as {header}",
)
CONTROL_TOKEN_WRONG = forbidden(
    "control_token_wrong",
    "{header} is not the control token.",
    "send the token that the server was started with as {header}",
)

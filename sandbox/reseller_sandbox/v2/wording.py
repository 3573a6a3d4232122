"""What v2.0 calls the terms and the actions of the domain."""

from __future__ import annotations

from reseller_sandbox.core.lifecycle import Action
from reseller_sandbox.core.refusals import Term, Wording

WORDING = Wording(
    {
        Term.YEARS: "period",
        Term.AGREED_PRICE: "purchaseCost (in v3 alone)",
        Term.NAMESERVERS: "ns",
        Term.ADDRESSES: "ip",
        Term.HOST: "host_name",
        Term.AUTH_CODE: "transfer_code",
        Term.REGISTRANT: "contact_registrant",
        Term.ADMIN: "contact_admin",
        Term.TECH: "contact_tech",
        Term.BILLING: "contact_billing",
        Term.CONTACT: "contact_id",
        Term.CUSTOMER: "customer_id",
        Term.MAIL: "mail",
        Action.HOLD: "client_hold 1",
        Action.RELEASE_HOLD: "client_hold 0",
        Action.LOCK_TRANSFER: "client_transfer_prohibited 1",
        Action.UNLOCK_TRANSFER: "client_transfer_prohibited 0",
        Action.LOCK_UPDATE: "client_update_prohibited 1",
        Action.UNLOCK_UPDATE: "client_update_prohibited 0",
        Action.SET_FLAGS: "domain edit",
        Action.SET_AUTORENEW: "enableAutorenew in v3",
        Action.SET_AUTH_CODE: "setAuthcode in v3",
        Action.READ_AUTH_CODE: "getAuthcode in v3",
    },
    lacks=frozenset({Action.SET_AUTORENEW, Action.SET_AUTH_CODE, Action.READ_AUTH_CODE}),
)

"""What the contract leaves open of the registry that both interfaces answer for."""

from __future__ import annotations

from dataclasses import dataclass

from reseller_sandbox.core.assumptions.silence import one_of


@dataclass(frozen=True)
class RegistrySilences:
    """What the contract leaves open of the registry that both interfaces answer for."""

    registry_hold: str = one_of(
        "locks.registry_hold",
        "refused, accepted",
        "Ending one's own hold (unlock, client_hold 0) of a name that its registry holds: refused, or "
        "accepted, and the name stays suspended.",
    )
    private_glue: str = one_of(
        "hosts.private_addresses",
        "accepted, refused",
        "Whether a glue record may hold addresses of private networks and of documentation.",
    )
    unknown_keys: str = one_of(
        "requests.unknown_keys",
        "accepted, refused",
        "Keys of a request that nothing reads, in either generation: told in a header of the answer, or "
        "refused.",
    )
    early_delete_refunds: str = one_of(
        "lifecycle.early_delete.refunds",
        "all, registration",
        "What deleting a name within its add grace period refunds: the registration and the renewals since, "
        "or the registration alone.",
    )
    transfer_lock_from: str = one_of(
        "lifecycle.transfer_lock.from",
        "creation_or_transfer, creation",
        "What the days count from before which a name cannot be transferred: its creation or its last "
        "transfer, or its creation alone.",
    )
    autorenew_tries: str = one_of(
        "lifecycle.autorenew.tries",
        "once, daily",
        "When automatic renewal is tried: once, at expiry, or again every day while the name is overdue.",
    )

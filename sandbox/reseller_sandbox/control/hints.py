"""Suggestions for unknown names of resources and operations, in the words of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reseller_sandbox.values.text_checks import close

#: Other words for each resource.
RESOURCES: Mapping[str, str] = {
    "accounts": "account users user resellers reseller",
    "answers": "answer mocks mock stubs stub canned",
    "assumptions": "assumption settings config configuration behaviour behavior options",
    "branches": "branch",
    "clock": "time date now",
    "contacts": "contact",
    "customers": "customer clients",
    "events": "event audit",
    "faults": "fault errors failures chaos",
    "history": "timeline past",
    "hosts": "host glue glue_records",
    "journal": "requests request_log log logs calls",
    "ledger": "money payments payment billing transactions movements",
    "names": "domains domain name registry",
    "scheduled": "plans planned schedule jobs",
    "simulate": "outside third_parties third_party registrar staff",
    "snapshots": "snapshot checkpoints checkpoint bookmarks",
    "transfers": "transfer",
    "worlds": "world sandboxes tenants",
}

#: Other words for each operation. A word with a dot counts only in that resource: ``names.remove``.
OPERATIONS: Mapping[str, str] = {
    "accounts.list": "find search all show",
    "accounts.get": "show find lookup balance",
    "accounts.add": "create new insert open",
    "accounts.credit": "add_funds add_money add_balance add_credit top_up topup deposit fund funds pay_in"
    " refill increase increase_balance refund",
    "accounts.debit": "take_funds withdraw charge take subtract spend decrease decrease_balance",
    "accounts.set_balance": "balance set_funds adjust_balance adjust change_balance update_balance"
    " accounts.update accounts.change accounts.set accounts.edit accounts.modify accounts.replace",
    "advice.list": "show get check find review",
    "answers.list": "show find all",
    "answers.get": "show find",
    "answers.add": "create mock stub set register",
    "answers.change": "update edit modify set",
    "answers.remove": "delete drop",
    "answers.clear": "reset remove_all delete_all",
    "assumptions.list": "show get find",
    "assumptions.set": "change update configure assume edit modify add replace",
    "branches.list": "show find",
    "branches.switch": "checkout change go",
    "branches.remove": "delete drop",
    "clock.show": "get time current read",
    "clock.freeze": "stop pause halt",
    "clock.run": "start resume unfreeze thaw continue",
    "clock.set": "travel move_to jump set_time time_travel goto go_to change update",
    "clock.advance": "forward move tick sleep skip wait fast_forward pass_time add elapse",
    "clock.due": "next upcoming pending calendar list",
    "clock.watch": "stream tail",
    "contacts.list": "find search all show",
    "contacts.get": "show find lookup",
    "contacts.add": "create new insert",
    "coverage.show": "get report list summary",
    "coverage.missing": "gaps uncovered todo",
    "coverage.clear": "reset",
    "customers.list": "find search all show",
    "customers.get": "show find lookup",
    "customers.add": "create new insert",
    "events.list": "find search show get",
    "events.follow": "tail watch stream",
    "faults.list": "show find all",
    "faults.get": "show find",
    "faults.add": "create inject set fail raise break",
    "faults.replace": "set_all load put",
    "faults.change": "update edit modify",
    "faults.pause": "disable off stop",
    "faults.resume": "enable on start unpause",
    "faults.remove": "delete drop",
    "faults.clear": "reset remove_all delete_all clean",
    "health.show": "get check status ping ready",
    "history.rewind": "undo back rollback revert go_back",
    "history.reset": "clear restart wipe clean start_over reload reset_world worlds.reset",
    "history.diff": "compare changes difference",
    "history.export": "dump save download backup",
    "history.load": "import upload replace open apply",
    "hosts.list": "find search all show",
    "hosts.get": "show find lookup",
    "hosts.add": "create new insert",
    "journal.list": "find search show requests all entries filter",
    "journal.get": "find_one show_one request entry",
    "journal.lines": "brief short",
    "journal.export": "har save dump",
    "journal.follow": "tail watch stream",
    "journal.clear": "reset delete remove wipe",
    "journal.verify": "assert check count called",
    "ledger.list": "find search show get entries movements transactions payments",
    "ledger.statement": "bill invoice report summary",
    "names.list": "find search all show",
    "names.get": "show lookup info whois",
    "names.add": "create new insert",
    "recording.get": "export save dump download",
    "scheduled.list": "show find pending",
    "scheduled.remove": "cancel delete drop unschedule",
    "simulate.register": "snipe steal buy names.register names.buy",
    "simulate.hold": "suspend names.hold names.suspend",
    "simulate.release_hold": "unhold unsuspend remove_hold",
    "simulate.drop": "delete remove names.remove names.delete names.drop names.cancel",
    "simulate.release": "free purge names.release names.free names.clear",
    "simulate.request_transfer": "transfer transfer_out start_transfer transfer_away transfers.request"
    " transfers.start names.transfer",
    "simulate.approve_transfer": "accept_transfer ack_transfer transfers.approve transfers.accept",
    "simulate.reject_transfer": "refuse_transfer deny_transfer decline_transfer nack_transfer"
    " transfers.reject transfers.refuse transfers.deny",
    "simulate.cancel_transfer": "abort_transfer withdraw_transfer transfers.cancel transfers.remove",
    "simulate.complete_transfer": "finish_transfer force_transfer transfers.complete transfers.finish",
    "simulate.change": "update edit modify set set_expiry expire lock unlock set_flags set_status"
    " names.change names.update names.edit names.modify names.set names.expire names.lock names.unlock"
    " names.replace",
    "simulate.renew": "extend prolong names.renew names.extend",
    "simulate.refuse_registration": "reject_registration deny_registration fail_registration reject"
    " names.reject names.refuse",
    "simulate.expire_auth_code": "expire_code invalidate_auth_code revoke_auth_code expire_authcode",
    "simulate.set_prices": "set_price price prices pricing change_prices update_prices",
    "simulate.set_promotion": "promotion promo discount sale",
    "simulate.set_premium": "premium make_premium",
    "simulate.set_service": "outage disable_zone enable_zone service",
    "simulate.revoke_credentials": "revoke block revoke_key disable_account suspend_account accounts.block"
    " accounts.suspend accounts.disable accounts.revoke accounts.remove accounts.delete accounts.lock",
    "simulate.restore_credentials": "unblock enable_account accounts.unblock accounts.enable accounts.unlock"
    " accounts.restore",
    "snapshots.list": "show find",
    "snapshots.add": "take save create snapshot checkpoint bookmark mark",
    "snapshots.restore": "load rollback revert go back",
    "snapshots.remove": "delete drop",
    "transfers.list": "find search all show",
    "transfers.get": "show lookup status",
    "transfers.add": "create new insert",
    "worlds.list": "show find all",
    "worlds.get": "show find info",
    "worlds.fork": "copy clone add create new branch isolate",
    "worlds.open": "load import replay",
    "worlds.remove": "delete destroy drop close",
}

#: Words that so many resources have that they suggest nothing for another resource.
_COMMON = (
    "add all change clear create delete drop edit export find get insert list load modify new remove replace"
    " reset search set show update"
)

#: More operations than this with the same word are no suggestion.
_FEW = 3


def meant(word: str, resource: str = "", own: Iterable[str] = ()) -> list[str]:
    """Return the operations or resources that the unknown ``word`` can mean, best first.

    ``resource`` is the resource in which the word is unknown, or "" for the whole interface. ``own`` are the
    names that exist there. A result with a dot belongs to another resource.
    """
    plain = word.lower().replace("-", "_")
    words = {operation: known.split() for operation, known in OPERATIONS.items()}
    if resource:
        if found := [operation for operation in words if f"{resource}.{plain}" in words[operation]]:
            return [operation.removeprefix(f"{resource}.") for operation in found]
        within = [operation for operation in words if operation.startswith(f"{resource}.")]
        if found := [operation for operation in within if plain in words[operation]]:
            return [operation.removeprefix(f"{resource}.") for operation in found]
        if found := close(plain, own):
            return found
    elif found := [name for name, known in RESOURCES.items() if plain in known.split()]:
        return found
    if not resource or plain not in _COMMON.split():
        named = [operation for operation in words if operation.endswith(f".{plain}")]
        found = named or [operation for operation in words if plain in words[operation]]
        if found and len(found) <= _FEW:
            return found
    return [] if resource else close(plain, own)

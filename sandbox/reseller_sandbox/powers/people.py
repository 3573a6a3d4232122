"""The people of the registry: accounts, customers and contacts, to look at and to add."""

from __future__ import annotations

from typing import Annotated, Unpack

from reseller_sandbox.core.outside import account_called
from reseller_sandbox.core.refusals import INVALID_ENTRY, UNKNOWN_ACCOUNT, UNKNOWN_RECORD
from reseller_sandbox.core.stepwise import in_order
from reseller_sandbox.core.values import TEXT, Text
from reseller_sandbox.fixture.accounts import AccountEntry
from reseller_sandbox.fixture.contacts import ContactEntry
from reseller_sandbox.fixture.customers import CustomerEntry
from reseller_sandbox.fixture.fields import Number
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.keyed import Keyed
from reseller_sandbox.powers.pages import Limit, Start, add, client_of, existing, keys_of, page
from reseller_sandbox.powers.power import act, look
from reseller_sandbox.powers.registry_records import (
    AccountRecord,
    ContactRecord,
    CustomerRecord,
    account_record,
    accounts_shown,
    contact_record,
    customer_record,
)
from reseller_sandbox.powers.result import Result

CustomerKey = Annotated[Number, "The customer's id."]
ContactKey = Annotated[str, TEXT, "The contact's handle."]


class AccountsFound(Result, frozen=True, kw_only=True):
    """The accounts of the service."""

    accounts: tuple[AccountRecord, ...]


class CustomersFound(Result, frozen=True, kw_only=True):
    """A page of customers; ``next`` is where the following page starts, if there is one."""

    customers: tuple[CustomerRecord, ...]
    next: int | None


class ContactsFound(Result, frozen=True, kw_only=True):
    """A page of contacts; ``next`` is where the following page starts, if there is one."""

    contacts: tuple[ContactRecord, ...]
    next: int | None


class Accounts(Keyed[AccountRecord]):
    """The accounts of the service: their money and their credentials."""

    @look()
    def list(self) -> AccountsFound:
        """Return every account."""
        return AccountsFound(accounts=accounts_shown(here(self).world.present().state))

    @look(UNKNOWN_ACCOUNT)
    def get(self, account: Text, /) -> AccountRecord:
        """Return one account.

        Args:
            account: Its name, or its client id.
        """
        state = here(self).world.present().state
        return account_record(state, account_called(state, account))

    @act(INVALID_ENTRY)
    def add(self, account: Text, /, **entry: Unpack[AccountEntry]) -> AccountRecord:
        """Open an account with its credentials and its money, as a fixture would.

        Args:
            account: Its name.
        """
        there = here(self).world.state.accounts
        add(self, "accounts", account, entry)
        state = here(self).world.state
        opened = next(number for number in state.accounts if number not in there)
        return account_record(state, state.accounts[opened])


class Customers(Keyed[CustomerRecord]):
    """The end clients of the accounts."""

    @look(UNKNOWN_ACCOUNT, long=True)
    def list(
        self, *, account: Text | None = None, mail: Text | None = None, limit: Limit = 100, start: Start = 0
    ) -> CustomersFound:
        """Return a page of the customers, those of one account after another.

        Args:
            account: Whose customers they are.
            mail: The mail address that one has.
        """
        state = here(self).world.present().state
        owner = client_of(state, account)
        found = (state.customers[number] for _, number in keys_of(state.customers_of_account, owner))
        meant = (one for one in found if mail is None or one.card.mail.lower() == mail.lower())
        rows, following = page(meant, limit, start)
        shown = tuple(customer_record(state, one) for one in rows)
        return CustomersFound(customers=shown, next=following)

    @look(UNKNOWN_RECORD)
    def get(self, number: CustomerKey, /) -> CustomerRecord:
        """Return one customer."""
        state = here(self).world.present().state
        return customer_record(state, existing(state.customers.get(number), "customer", number))

    @act(INVALID_ENTRY)
    def add(self, number: CustomerKey, /, **entry: Unpack[CustomerEntry]) -> CustomerRecord:
        """Put a customer into the registry, as a fixture would."""
        add(self, "customers", number, entry)
        return self.get(number)


class Contacts(Keyed[ContactRecord]):
    """The contacts of names, under their handles."""

    @look(UNKNOWN_ACCOUNT, long=True)
    def list(self, *, account: Text | None = None, limit: Limit = 100, start: Start = 0) -> ContactsFound:
        """Return a page of the contacts, by handle.

        Args:
            account: Whose contacts they are.
        """
        state = here(self).world.present().state
        owner = client_of(state, account)
        found = (contact for _, contact in in_order(state.contacts))
        rows, following = page((one for one in found if owner in (None, one.account)), limit, start)
        return ContactsFound(contacts=tuple(contact_record(state, one) for one in rows), next=following)

    @look(UNKNOWN_RECORD)
    def get(self, handle: ContactKey, /) -> ContactRecord:
        """Return one contact."""
        state = here(self).world.present().state
        return contact_record(state, existing(state.contacts.get(handle), "contact", handle))

    @act(INVALID_ENTRY)
    def add(self, handle: ContactKey, /, **entry: Unpack[ContactEntry]) -> ContactRecord:
        """Put a contact into the registry, as a fixture would."""
        add(self, "contacts", handle, entry)
        return self.get(handle)

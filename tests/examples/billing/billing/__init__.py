"""Sells names: what customers order is ordered from the registrar, and paid for once."""

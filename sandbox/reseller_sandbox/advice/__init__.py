"""Advice: what in a world's journal would have cost money, names or secrets in production.

It is worked out when somebody asks, from what the journal holds, and touches no request.
Each rule is a function beside its thresholds; ``rules.RULES`` is the catalogue.
"""

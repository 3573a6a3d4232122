"""Advice: requests that would have cost money, names or secrets in production.

The sandbox computes advice on demand from the journal and changes no request. Each rule is a function next to
its thresholds. ``rules.RULES`` lists the rules of the modules.
"""

"""Coverage of the contract: what there is to exercise, what has been exercised, and how to exercise the rest.

``items`` says what there is, area by area; ``marks`` reads what a world's tally has of it; ``figures``
counts; ``gaps`` says of each item that is missing which request would exercise it. Nothing here knows an
interface.
"""

"""Coverage of the contract: all items, the exercised items, and the gaps.

``items`` lists the items by area. ``marks`` reads a world's tally. ``figures`` counts. ``gaps`` returns the
request that exercises each missing item. This package does not depend on any interface.
"""

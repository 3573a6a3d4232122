"""Coverage of the contract: all items, the exercised items, and the gaps.

``items`` lists the items by area. ``figures`` counts them from a world's tally. ``gaps`` returns the request
that exercises each missing item. This package does not depend on any interface.
"""

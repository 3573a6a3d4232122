"""What puts a sandbox to work elsewhere: files for containers and for CI, and a bill of materials.

``commands`` is where to begin. The files are in ``templates``; what they install beside the wheel is in
``requirements.txt``, which ``make lock`` writes.
"""

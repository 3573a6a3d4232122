"""The state file: worlds saved in a file between two runs of a server.

``file`` is a locked file with a checksum. ``worlds`` writes worlds to it and reads them. ``state_file``
decides when to save.
"""

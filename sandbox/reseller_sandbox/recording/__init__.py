"""Recordings: one file with all that it takes to live a world's past again.

``writing.recording_of`` makes one of a world, ``document`` turns it into bytes and reads them strictly. With
the resources, ``sandbox.recording.get()`` returns those bytes and ``sandbox.recording.write(path)`` writes
them to a file. ``reseller_sandbox.replay`` takes the bytes, or a path, does it all again, and tells the
first difference; what it returns holds the sandbox at the point that was reached.
"""

"""Recordings: files from which the past of a world can be replayed.

``writing.recording_of`` makes the recording of a world. ``document`` turns it into bytes and reads them
strictly. In Python, ``sandbox.recording.get()`` returns the bytes, and ``sandbox.recording.write(path)``
writes them to a file. ``reseller_sandbox.replay`` takes the bytes or a path, repeats every step and returns
the first difference. Its result holds the sandbox in the state that the replay reached.
"""

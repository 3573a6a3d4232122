"""Canned answers: responses to requests that no operation of the contract takes.

``canned`` declares an answer and finds the answer for a request. ``placeholders`` fills its texts with values
of the request and of the registry.
"""

from reseller_sandbox.answers.canned import ANSWER as ANSWER
from reseller_sandbox.answers.canned import CannedAnswer as CannedAnswer
from reseller_sandbox.answers.canned import read_answer as read_answer

"""A nightly job that renews a name in its last 60 days, through v2.0."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

CLOSE = timedelta(days=60)


def expiry(client: Any, name: str) -> str:
    """Return the expiry date of a name, or an empty text if the name is lost."""
    answer: dict[str, str] = client.get(f"/V2.0/domain/{name}").get_json()
    return answer.get("date_end", "")[:10]


def renew(client: Any, name: str, today: date, *, read_again: bool) -> None:
    """Renew a name that expires soon. If an answer is lost, try again.

    With ``read_again``, the job reads the expiry date before each attempt. That is the mistake: after a lost
    answer it reads the new date, and the service accepts the second renewal.
    """
    current = expiry(client, name)
    if not current or date.fromisoformat(current) - today > CLOSE:
        return
    for _ in range(3):
        try:
            client.put(f"/V2.0/domain/{name}/renew", json={"period": 1, "current_expiry_date": current})
            return
        except OSError:
            if read_again:
                current = expiry(client, name)

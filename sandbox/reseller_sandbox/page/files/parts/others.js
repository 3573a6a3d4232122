// Actions of third parties on a name: strangers, other registrars, the registry.

import { action } from "./action.js";
import { h } from "./dom.js";

/** Return the actions that apply to the name in its current state. */
export function others(address, subject, record) {
  if (address.at) return null;
  const coming = record?.transfer?.status === "pending" && record.stage === "arriving";
  const leaving = record?.transfer?.status === "pending" && !coming;
  const able = !record ? { register: "A stranger registers it" } : record.account === "outside" ? { drop: "Its holder drops it", release: "The registry releases it" } : coming
    ? { approve_transfer: "Its holder approves the transfer", reject_transfer: "Its holder rejects the transfer", complete_transfer: "The transfer completes" }
    : leaving ? { cancel_transfer: "The other registrar cancels", complete_transfer: "The transfer completes" }
      : { request_transfer: "Another registrar wants it", ...(record.flags.includes("registry_hold") ? { release_hold: "The registry lifts its hold" } : { hold: "The registry puts it on hold" }), release: "The registry releases it" };
  return h("section", h("h2.minor", "Third parties"), h("ul.plain.able", Object.entries(able).map(([name, label]) =>
    h("li", action({ label, operation: `simulate.${name}`, args: { domain: subject }, where: address,
      says: ({ events }) => events.map(({ event, subject: about }) => `${event}: ${about}`).join("; ") || "Scheduled." })))));
}

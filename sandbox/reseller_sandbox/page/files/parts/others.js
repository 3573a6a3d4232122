// Actions of third parties on a name: strangers, other registrars, the registry.

import { Action } from "./action.js";
import { html } from "./html.js";

/** Return the actions that are possible for a name in its current state, each with its label. */
export function possible(record) {
  if (!record || record.stage === "released") return { register: "A stranger registers it" };
  if (record.account === "outside") return { drop: "Its holder drops it", release: "The registry releases it" };
  const isPending = record.transfer?.status === "pending";
  if (isPending && record.stage === "arriving") {
    return { approve_transfer: "Its holder approves the transfer", reject_transfer: "Its holder rejects the transfer", complete_transfer: "The transfer completes" };
  }
  if (isPending) return { cancel_transfer: "The other registrar cancels", complete_transfer: "The transfer completes" };
  return { request_transfer: "Another registrar wants it",
    ...(record.flags.includes("registry_hold") ? { release_hold: "The registry lifts its hold" } : { hold: "The registry puts it on hold" }),
    release: "The registry releases it" };
}

/** The actions that apply to the name in its current state. */
export const Others = ({ address, subject, record }) => !address.at && html`<section><h2 class="minor">Third parties</h2><ul class="plain able">
  ${Object.entries(possible(record)).map(([name, label]) => html`<li key=${name}><${Action} label=${label} operation="simulate.${name}" args=${{ domain: subject }} where=${address}
    says=${({ events }) => events.map(({ event, subject: about }) => `${event}: ${about}`).join("; ") || "Scheduled."} /></li>`)}</ul></section>`;

// Actions of third parties: strangers, other registrars, the registry. They happen now, or at the time in the address.

import { Action } from "./action.js";
import { read } from "./address.js";
import { operations } from "./api.js";
import { html } from "./html.js";

/** Return the ids of the actions whose first parameter has this name. */
export const actionsOn = (subject) => Object.keys(operations).filter((id) => id.startsWith("simulate.") && operations[id].parameters[0].name === subject);

/** Return the actions that are possible for a name in its current state, each with its label. */
function possible(record) {
  const premium = { "simulate.set_premium": "The registry sets premium prices" };
  const release = { "simulate.release": "The registry releases it", ...premium };
  if (!record || record.stage === "released") return { "simulate.register": "A stranger registers it", ...premium };
  if (record.account === "outside") return { "simulate.drop": "Its holder drops it", ...release };
  if (record.transfer?.status !== "pending") {
    const hold = record.flags.includes("registry_hold") ? { "simulate.release_hold": "The registry lifts its hold" } : { "simulate.hold": "The registry puts it on hold" };
    return { "simulate.request_transfer": "Another registrar wants it", ...hold, ...release };
  }
  const end = { "simulate.complete_transfer": "The transfer completes", ...premium };
  if (record.stage !== "arriving") return { "simulate.cancel_transfer": "The other registrar cancels", ...end };
  return { "simulate.approve_transfer": "Its holder approves the transfer", "simulate.reject_transfer": "Its holder rejects the transfer", ...end };
}

/** The actions on a name: those that are possible in its current state. At a later time, its state can be any. */
export function Others({ domain, record }, { address: { when } }) {
  const labels = possible(record);
  return html`<ul class="plain tools">${actionsOn("domain").filter((id) => when || id in labels)
    .map((id) => html`<li key=${id}><${Act} of=${id} subject=${domain} label=${labels[id]} /></li>`)}</ul>`;
}

/** A button for an action. Without its subject, or if it has other parameters than a name, it opens a form. */
export function Act({ of: id, subject, label = inWords(id) }) {
  const [{ name: key }, ...others] = operations[id].parameters;
  const asks = others.map(({ name }) => name).filter((name) => name !== "at" && name !== "after");
  return html`<${Action} label=${label} operation=${id} args=${() => ({ [key]: subject, ...planned(read()) })} says=${happened}
    asks=${subject ? (key !== "domain" || id.endsWith("premium")) && asks.length > 0 && asks : [key, ...asks]} />`;
}

/** Return the name of an action as words. */
export const inWords = (id) => id.replace("simulate.", "").replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

/** @type {(address: Record<string, any>) => object} */
const planned = ({ when, on, after }) => (when === "at" && on ? { at: on } : when === "after" && after ? { after } : {});

const happened = ({ events, scheduled }) => (scheduled ? `Scheduled: ${inWords(scheduled.action)}.` : events.map(({ event, subject }) => `${event} ${subject}`).join(", ") || "Done.");

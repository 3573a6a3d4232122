// Actions of third parties: strangers, other registrars, the registry, the staff. They happen at the time in the address, or now.

import { Action } from "./action.js";
import { read } from "./address.js";
import { operations } from "./api.js";
import { html } from "./html.js";
import { spaced } from "./words.js";

/** Return the ids of the actions on a domain, an account or a zone. */
export const actionsOn = (subject) => Object.keys(operations).filter((id) => {
  const [first, ...others] = operations[id].parameters;
  return first?.name === subject && others.some(({ name }) => name === "after"); // any action can wait for a request
});

const LABELS = {
  register: "A stranger registers it", drop: "Its holder drops it", request_transfer: "Another registrar wants it",
  approve_transfer: "Its holder approves the transfer", reject_transfer: "Its holder rejects the transfer",
  cancel_transfer: "The other registrar cancels", complete_transfer: "The transfer completes",
  hold: "The registry puts it on hold", release_hold: "The registry lifts its hold", release: "The registry releases it",
  refuse_registration: "The registry refuses the registration", expire_auth_code: "Its auth code expires",
  change: "The staff changes it", renew: "The staff renews it", set_premium: "The registry sets premium prices",
};

/** Return the actions on a pending transfer. They follow from the registrar that is not in this world. */
export const onTransfer = ({ losing, gaining }) => [...(losing === "outside" ? ["approve_transfer", "reject_transfer"] : []),
  ...(gaining === "outside" ? ["cancel_transfer"] : []), "complete_transfer"];

function possible(record) {
  if (!record || record.stage === "released") return ["register"];
  if (record.account === "outside") return ["drop", "release", "change", "expire_auth_code"];
  if (["requested", "processing"].includes(record.stage)) return ["refuse_registration", "change"];
  if (record.transfer?.status === "pending") return [...onTransfer(record.transfer), "change"];
  return ["request_transfer", record.flags.includes("server_hold") ? "release_hold" : "hold", "release", "change", "renew", "expire_auth_code"];
}

/** The actions that are possible for a name. At a later time, its state can be any. */
export const Others = ({ domain, record }, { address: { when } }) =>
  html`<${Acts} subject=${domain} of=${when ? Object.keys(LABELS) : [...possible(record), "set_premium"]} />`;

export const Acts = ({ of: actions, subject }) => html`<ul class="plain tools">${actions.map((name) => html`<li key=${name}>
  <${Act} of="simulate.${name}" subject=${subject} label=${LABELS[name]} /></li>`)}</ul>`;

/** Actions on a name that have a use only with further parameters, so that their buttons open a form. */
const ASKING = ["simulate.change", "simulate.renew", "simulate.refuse_registration", "simulate.set_premium"];

/** A button for an action. Without its subject, or if it asks for other parameters, it opens a form. */
export function Act({ of: id, subject, label = inWords(id) }) {
  const [{ name: key }, ...others] = operations[id].parameters;
  const asks = others.map(({ name }) => name).filter((name) => name !== "at" && name !== "after");
  return html`<${Action} label=${label} operation=${id} args=${() => ({ [key]: subject, ...planned(read()) })} says=${happened}
    asks=${subject ? (key !== "domain" || ASKING.includes(id)) && asks.length > 0 && asks : [key, ...asks]} />`;
}

export const inWords = (id) => spaced(id.replace(/^\w+\./, "")).replace(/^./, (first) => first.toUpperCase());

/** @type {(address: Record<string, any>) => object} */
const planned = ({ when, on, after }) => (when === "at" && on ? { at: on } : when === "after" && after ? { after } : {});

const happened = ({ events, scheduled }) => (scheduled ? `Scheduled: ${inWords(scheduled.action)}.` : events.map(({ event, subject }) => `${event} ${subject}`).join(", ") || "Done.");

import { instant, json } from "./words.js";

/** Return the control operation that makes the world accept a refused request, if there is one. */
export function fixOf({ refusal: { rule, facts, allowed_at: at, met } }) {
  if (at) return { words: `Advance the clock to ${instant(at)}`, operation: "clock.advance", args: { to: at } };
  const missing = rule === "insufficient_funds" && met.balance !== null ? Number(facts.amount) - Number(met.balance) : 0;
  if (missing > 0) return { words: `Top up ${met.account} by ${missing.toFixed(2)} ${met.currency}`, operation: "accounts.credit", args: { account: met.account, amount: missing.toFixed(2) } };
  return null;
}

/** Whether the page can correct a refused request, or change the world so that it is accepted. */
export const isFixable = (record) => Object.keys(record.refusal?.correction ?? {}).length > 0 || Boolean(record.refusal && fixOf(record));

/** Return the address of the console with the same request, in which a value that was refused is correct. */
export const again = ({ world }, { id, operation, account, request, refusal }) => ({ view: "console", subject: operation, world, account,
  ...corrected(request.target.replace(/^\/_worlds\/[^/]+/, ""), request.body, refusal?.correction ?? {}), fix: refusal ? id : "" });

// The value is corrected where the request has it: in the query, or in the body, also below its domain.
function corrected(target, body, correction) {
  const [path, query] = target.split("?");
  const words = new URLSearchParams(query);
  const whole = body && typeof body === "object" ? structuredClone(body) : body;
  for (const [key, value] of Object.entries(correction)) {
    if (words.has(key)) words.set(key, value);
    else if (whole && typeof whole === "object") (whole.domain && key in whole.domain ? whole.domain : whole)[key] = value;
  }
  return { target: words.size ? `${path}?${words}` : path, body: whole ? json(whole) : "" };
}

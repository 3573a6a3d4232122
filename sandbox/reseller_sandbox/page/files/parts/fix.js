import { instant, json } from "./words.js";

/** Return the control operation that makes the world accept a refused request, if there is one. */
export function fixOf({ refusal: { rule, facts, allowed_at: at, met } }) {
  if (at) return { words: `Advance the clock to ${instant(at)}`, operation: "clock.advance", args: { to: at } };
  const missing = rule === "insufficient_funds" && met.balance !== null ? Number(facts.amount) - Number(met.balance) : 0;
  if (missing > 0) return { words: `Top up ${met.account} by ${missing.toFixed(2)} ${met.currency}`, operation: "simulate.adjust_balance", args: { account: met.account, by: missing.toFixed(2) } };
  return null;
}

/** Return the address of the console with the same request. */
export const again = ({ world }, { id, operation, account, request, refusal }) => ({ view: "console", subject: operation, world, account,
  target: request.target.replace(/^\/_worlds\/[^/]+/, ""), body: request.body ? json(request.body) : "", fix: refusal ? id : "" });

// The responses of both interfaces for a name, side by side. They come from a temporary copy of the world, so
// that the journal of the world gets no requests.

import { root, signed } from "./api.js";
import { h } from "./dom.js";
import { tag } from "./pieces.js";
import { json, parsed } from "./words.js";

const TARGETS = { v3: (name) => `v3/domains/getDomain/${encodeURIComponent(name)}`, v2: (name) => `V2.0/domain/${encodeURIComponent(name)}` };

/** Return both responses for the account that holds the name, otherwise for the account main. */
export async function answers(address, subject, record) {
  const account = record?.account ?? "main";
  if (account === "outside") return null;
  const responses = await Promise.all(Object.entries(TARGETS).map(async ([key, path]) => [key, await fetched(key, path(record?.ascii ?? subject), account, address)]));
  return h("section", h("h2.minor", `API responses for ${account}`), h("div.pair", responses.map(([key, { target, status, text }]) =>
    h("div", h("p", tag(key === "v3" ? "v3" : "v2.0"), " ", h("code", `GET /${target}`), " ", h("span", { class: status < 400 ? "ok" : "bad" }, status)),
      h("pre", { tabindex: 0 }, text)))));
}

async function fetched(key, target, account, { world, at }) {
  const path = `/_worlds/${encodeURIComponent(`${world || "default"}@${at || "now"}`)}/${target}`;
  try {
    const { headers } = await signed({ account, interface: key, target: path }, { world, at });
    const answer = await fetch(new URL(path.slice(1), root), { headers, credentials: "omit" });
    const text = await answer.text();
    return { target, status: answer.status, text: json(parsed(text)) };
  } catch (problem) {
    return { target, status: "–", text: problem.message };
  }
}

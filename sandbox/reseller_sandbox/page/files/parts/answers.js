// The responses of all interfaces for a name, side by side. They come from a temporary copy of the world, so
// that the journal of the world gets no requests.

import { interfaces, root, signed } from "./api.js";
import { h } from "./dom.js";
import { tag } from "./pieces.js";
import { json, parsed } from "./words.js";

/** Return the responses for the account that holds the name, otherwise for the account main. */
export async function answers(address, subject, record) {
  const account = record?.account ?? "main";
  if (account === "outside") return null;
  const name = encodeURIComponent(record?.ascii ?? subject);
  const responses = await Promise.all(interfaces.filter(({ name_path: path }) => path).map(async ({ label, name_path: path }) =>
    [label, await fetched(path.slice(1).replace("{name}", name), account, address)]));
  return h("section", h("h2.minor", `API responses for ${account}`), h("div.pair", responses.map(([label, { target, status, text }]) =>
    h("div", h("p", tag(label), " ", h("code", `GET /${target}`), " ", h("span", { class: status < 400 ? "ok" : "bad" }, status)),
      h("pre", { tabindex: 0 }, text)))));
}

async function fetched(target, account, { world, at }) {
  const path = `/_worlds/${encodeURIComponent(`${world || "default"}@${at || "now"}`)}/${target}`;
  try {
    const { headers } = await signed({ account, target: path }, { world, at });
    const answer = await fetch(new URL(path.slice(1), root), { headers, credentials: "omit" });
    const text = await answer.text();
    return { target, status: answer.status, text: json(parsed(text)) };
  } catch (problem) {
    return { target, status: "–", text: problem.message };
  }
}

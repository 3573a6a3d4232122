// The responses of all interfaces for a name, from a temporary copy of the world: its journal gets no requests.

import { interfaces, root, signed } from "./api.js";

/** Return the responses for the account that holds the name, otherwise for the account main. */
export async function answers(address, subject, record) {
  const account = record?.account ?? "main";
  if (account === "outside") return null;
  const name = encodeURIComponent(record?.ascii ?? subject);
  const all = await Promise.all(interfaces.filter(({ name_path: path }) => path)
    .map(({ label, name_path: path }) => fetched(label, path.slice(1).replace("{name}", name), account, address)));
  return { account, all };
}

async function fetched(label, target, account, { world, at }) {
  const path = `/_worlds/${encodeURIComponent(`${world || "default"}@${at || "now"}`)}/${target}`;
  try {
    const { headers } = await signed({ account, target: path }, { world, at });
    const answer = await fetch(new URL(path.slice(1), root), { headers, credentials: "omit" });
    return { label, target, status: answer.status, text: await answer.text() };
  } catch (problem) {
    return { label, target, status: "–", text: problem.message };
  }
}

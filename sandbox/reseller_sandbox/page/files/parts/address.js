// Addresses of the page's states: `#/names/shop-example.com?at=before:r12&world=w1`.

/** Return the address in a hash: the view, its subject, and the query. @returns {Record<string, any>} */
export function read(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  const subject = rest.map(decoded).join("/");
  return { view: decoded(view) || "journal", subject, ...Object.fromEntries(new URLSearchParams(query)) };
}

/** Return the hash of an address. @param {Record<string, any>} address */
export function write({ view, subject = "", ...query }) {
  const said = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const path = ["#", view, ...(subject ? [subject] : [])].map((part, at) => (at ? encodeURIComponent(part) : part));
  const words = said.map((pair) => pair.map((word) => encodeURIComponent(word).replaceAll("%3A", ":")).join("="));
  return path.join("/") + (words.length ? `?${words.join("&")}` : "");
}

/** Return the hash of another view, or of another subject, in the same world at the same moment. @param {Record<string, any>} address */
export const beside = ({ world, at }, view, subject, more = {}) => write({ view, subject, world, at, ...more });

/** Go to an address. With `quietly`, replace the current entry of the browser's history. */
export function go(address, quietly = false) {
  const hash = write(address);
  if (hash === location.hash) return;
  if (quietly) {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = hash;
}

/** Return a function that leaves the current address. It does nothing after the user has left. */
export function onward() {
  const { hash } = location;
  return (address) => hash === location.hash && go(address);
}

/** Change words of the current address, which may be newer than the visible view. */
export const change = (words, quietly) => go({ ...read(), ...words }, quietly);

function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

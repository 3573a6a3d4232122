// Addresses of the page's states: `#/names/shop-example.com?at=before:r12&world=w1`.

/** Return the view, its subject, and the query in a hash. @returns {Record<string, any>} */
export function read(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  const subject = rest.map(decoded).join("/");
  return { view: decoded(view) || "journal", subject, ...Object.fromEntries(new URLSearchParams(query)) };
}

/** Return the hash of an address. @param {Record<string, any>} address */
export function write({ view, subject = "", ...query }) {
  const path = ["#", ...[view, subject].filter(Boolean).map(encodeURIComponent)].join("/");
  const words = new URLSearchParams(given(query)).toString().replaceAll("%3A", ":");
  return words ? `${path}?${words}` : path;
}

/** Return the hash of a view in the same world at the same moment. @param {Record<string, any>} address */
export const beside = ({ world, at }, view, subject, more = {}) => write({ view, subject, world, at, ...more });

/** Return an object without its empty values. */
export const given = (all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null && value !== ""));

/** Go to an address. With `quietly`, replace the current entry of the browser's history. */
export function go(address, quietly = false) {
  const hash = write(address);
  if (hash === location.hash) return;
  if (quietly) {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = hash;
}

/** Return a function that goes to an address, unless the user has left the current one before. */
export function onward() {
  const { hash } = location;
  return (address) => hash === location.hash && go(address);
}

/** Change words of the newest address. */
export const change = (words, quietly) => go({ ...read(), ...words }, quietly);

function decoded(word) { // a link of another program can be broken
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

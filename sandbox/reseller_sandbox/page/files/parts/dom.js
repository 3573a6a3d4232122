// Elements are made from text, never from markup, so that a name or a body cannot inject HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element: `h("td.num", { title: "…" }, "12", other)`. Handlers are properties: `onclick`. */
export const h = (tag, ...rest) => fill(document, tag, rest);

/** Return an element of a picture, as `h` does. */
export const svg = (tag, ...rest) => fill(document, tag, rest, SVG);

function fill(owner, tag, rest, space) {
  const [name, ...classes] = tag.split(".");
  const made = space ? owner.createElementNS(space, name) : owner.createElement(name);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  const props = isProps(rest[0]) ? rest.shift() : {};
  made.own = props;
  for (const [key, value] of Object.entries(props)) set(made, key, value);
  made.append(...rest.flat(Infinity).filter(isShown));
  return made;
}

const isProps = (value) => value && typeof value === "object" && !(value instanceof Node) && !Array.isArray(value);
const isShown = (value) => value !== null && value !== undefined && value !== false && value !== "";

function set(element, key, value) {
  if (key === "class") {
    for (const name of String(value || "").split(" ").filter(Boolean)) element.classList.add(name);
  } else if (key.startsWith("on") || key.startsWith("$") || key === "value" || key === "checked") {
    element[key.replace("$", "")] = value;
  } else if (value === true) element.setAttribute(key, "");
  else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
}

/** Replace the children of `target` by `nodes`. Keep equal ones, with their focus and scroll position. */
export function render(target, ...nodes) {
  const wanted = nodes.flat(Infinity).filter(isShown)
    .map((node) => (node instanceof Node ? node : document.createTextNode(node)));
  const keyed = new Map();
  for (const child of target.childNodes) if (child.own?.key !== undefined) keyed.set(child.own.key, child);
  let at = target.firstChild;
  for (const node of wanted) {
    const key = node.own?.key;
    let old = key === undefined ? at : keyed.get(key);
    if (old && key === undefined && old.own?.key !== undefined) old = null;
    if (old && isAlike(old, node)) {
      if (old === at) at = at.nextSibling;
      else target.insertBefore(old, at);
      morph(old, node);
    } else target.insertBefore(node, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Keep open elements open. Do not change a `busy` element until the action of the user has ended.
const isOwn = (old, name) => (name === "open" && old.nodeName === "DETAILS") || (name === "disabled" && old.busy);
const isAlike = (old, node) => old.nodeType === node.nodeType && old.nodeName === node.nodeName;

function morph(old, node) {
  if (old === node) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== node.data) old.data = node.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!node.hasAttribute(name) && !isOwn(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const key of Object.keys(old.own ?? {})) if (key.startsWith("on") && !(key in node.own)) old[key] = null;
  for (const [key, value] of Object.entries(node.own ?? {})) {
    if (key.startsWith("on") || key.startsWith("$")) old[key.replace("$", "")] = value;
    else if ((key === "checked" && !old.busy) || (key === "value" && (old !== document.activeElement || old.type === "range"))) old[key] = value;
  }
  old.own = node.own;
  if (!old.nodeName.includes("-") && node.nodeName !== "SELECT") render(old, [...node.childNodes]);
  else if (node.nodeName === "SELECT" && old.textContent !== node.textContent) {
    old.replaceChildren(...node.childNodes);
    old.value = node.own.value;
  }
}

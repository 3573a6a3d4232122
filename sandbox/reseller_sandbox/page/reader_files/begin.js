// Shows an OpenAPI document in Swagger UI, or a message if Swagger UI is not installed.

/** @type {NodeListOf<HTMLAnchorElement>} */
const all = document.querySelectorAll("nav a");
const links = [...all].filter((link) => documentOf(link.href));
const chosen = documentOf(location.href) ?? documentOf(links[0].href);
const address = new URL(`openapi/${encodeURIComponent(chosen)}.json`, location.href).href;
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);

function documentOf(address) {
  return new URL(address).searchParams.get("document");
}

for (const link of links) {
  if (documentOf(link.href) === chosen) link.setAttribute("aria-current", "page");
}
dark.addEventListener("change", follow);
follow();

// An operation's path is within the button that opens it, so it must not be a link.
const plain = ({ React }) => ({ components: { DeepLink: ({ text }) => React.createElement("span", null, text) } });

// Elements of Swagger UI that need a name, a heading level or keyboard access.
/** @type {[string, Record<string, any>][]} */
const FIXES = [
  [".information-container", { role: "region", "aria-label": "About" }],
  [".scheme-container", { role: "region", "aria-label": "Server" }],
  [".filter", { role: "search" }],
  [".opblock-tag, .models h4", { "aria-level": 2 }],
  [".opblock h4", { "aria-level": 3 }],
  [".opblock h5", { "aria-level": 4 }],
  ["select#servers", { "aria-label": "Server" }],
  ["select[class]", { "aria-label": "Example or content type" }],
  [".model-box > article > * > .json-schema-2020-12-accordion", { "aria-label": "All fields" }],
  ["pre.microlight", { tabindex: 0 }],
  ["input.operation-filter-input", { "aria-label": "Filter by tag" }],
];

function fix() {
  for (const [selector, attributes] of FIXES) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
  for (const element of document.querySelectorAll("#document table[role=region]")) element.setAttribute("aria-label", element.id.replaceAll("_", " "));
}

const { SwaggerUIBundle } = /** @type {any} */ (globalThis);

if (SwaggerUIBundle) {
  new MutationObserver(fix).observe(document.querySelector("#document"), { childList: true, subtree: true });
  SwaggerUIBundle({ url: address, dom_id: "#document", plugins: [plain], deepLinking: true, filter: true, docExpansion: "list", defaultModelsExpandDepth: 0, validatorUrl: null, supportedSubmitMethods: [] });
} else {
  const words = document.createElement("main");
  words.className = "missing";
  words.append("Swagger UI is not installed. Run: pip install flask-swagger-ui. The document is at ");
  words.append(Object.assign(document.createElement("a"), { href: address, textContent: address }));
  document.querySelector("#document").append(words);
}

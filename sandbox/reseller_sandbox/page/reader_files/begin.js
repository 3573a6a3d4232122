// One of the OpenAPI documents, to read. What is missing is told in place of it.

const asked = new URLSearchParams(location.search).get("document") ?? "v3";
const address = new URL(`openapi/${encodeURIComponent(asked)}.json`, location.href).href;
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);

for (const link of document.querySelectorAll("nav a")) {
  if (new URL(link.href).searchParams.get("document") === asked) link.setAttribute("aria-current", "page");
}
dark.addEventListener("change", follow);
follow();

// An operation's path is within the button that opens it, so it is no link of its own.
const plain = ({ React }) => ({ components: { DeepLink: ({ text }) => React.createElement("span", null, text) } });

// What Swagger UI leaves without a name, a level or a way in by keyboard.
const MENDED = [
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

function mend() {
  for (const [selector, attributes] of MENDED) {
    for (const one of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
    }
  }
  for (const one of document.querySelectorAll("#document table[role=region]")) one.setAttribute("aria-label", one.id.replaceAll("_", " "));
}

if (globalThis.SwaggerUIBundle) {
  new MutationObserver(mend).observe(document.querySelector("#document"), { childList: true, subtree: true });
  SwaggerUIBundle({ url: address, dom_id: "#document", plugins: [plain], deepLinking: true, filter: true, docExpansion: "list", defaultModelsExpandDepth: 0, validatorUrl: null, supportedSubmitMethods: [] });
} else {
  const words = document.createElement("main");
  words.className = "missing";
  words.append("To read it here takes Swagger UI: pip install 'reseller-sandbox[page]'. The document itself is at ");
  words.append(Object.assign(document.createElement("a"), { href: address, textContent: address }));
  document.querySelector("#document").append(words);
}

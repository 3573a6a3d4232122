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

if (globalThis.SwaggerUIBundle) {
  SwaggerUIBundle({ url: address, dom_id: "#document", deepLinking: true, filter: true, docExpansion: "list", validatorUrl: null, supportedSubmitMethods: [] });
} else {
  const words = document.createElement("p");
  words.className = "missing";
  words.append("To read it here takes Swagger UI: pip install 'reseller-sandbox[page]'. The document itself is at ");
  words.append(Object.assign(document.createElement("a"), { href: address, textContent: address }));
  document.querySelector("main").append(words);
}

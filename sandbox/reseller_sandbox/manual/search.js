// Search box of the manual.

const root = document.currentScript.dataset.root;
addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("search-words");
  box.closest("search").hidden = false;
  box.addEventListener("input", () => show(box.value));
});

async function show(words) {
  const asked = words.trim() ? await fetch(`${root}search?${new URLSearchParams({ words })}`) : null;
  const items = asked?.ok ? (await asked.json()).sections.map(item) : [];
  if (asked?.ok && !items.length) items.push(element("li", "Nothing found."));
  // A slower answer for earlier words must not replace this one.
  if (words === document.getElementById("search-words").value)
    document.getElementById("search-results").replaceChildren(...items);
}

function item(section) {
  const link = element("a", section.heading);
  link.href = `${root}${section.page}#${section.anchor}`;
  const line = element("li");
  line.append(link);
  if (section.heading !== section.title) line.append(element("small", section.title));
  return line;
}

function element(name, text = "") {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

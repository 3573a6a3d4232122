// Search box of the manual. The order of results is that of `reseller-sandbox manual --search` (search.py).

const root = document.currentScript.dataset.root;
const MOST = 5;
const SHOWN = 20;

addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("search-words");
  box.closest("search").hidden = false;
  box.addEventListener("input", () => show(box.value));
});

async function show(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (await import("./search-index.js")).default
    .map((section) => [score(section, words), section])
    .filter(([points]) => points)
    .sort(([a], [b]) => b - a);
  const items = found.slice(0, SHOWN).map(([, section]) => item(section));
  if (words.length && !items.length) items.push(element("li", "Nothing found."));
  document.getElementById("search-results").replaceChildren(...items);
}

function score(section, words) {
  let total = 0;
  for (const word of words) {
    const [title, heading, text] = [section.title, section.heading, section.text].map((part) => part.toLowerCase());
    const points = 8 * title.includes(word) + 12 * heading.includes(word) + Math.min(MOST, text.split(word).length - 1);
    if (!points) return 0;
    total += points;
  }
  return total;
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

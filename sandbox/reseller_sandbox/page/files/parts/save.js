/** Let the browser save a text, or bytes, as a file. */
export function save(name, content) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([content])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

// Makes elements. Names come from a dump, so they are inserted as text, never as markup.
const make = (tag, kind, ...children) => {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
};
const svgElement = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
// Long names may break after a separator.
const breakable = (text) => text.split(/(?<=[./:$_,(\[←])/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));
const link = (address, kind, ...children) => {
  const element = make("a", kind, ...children);
  element.href = address;
  return element;
};
const button = (text, does, kind = "") => {
  const element = make("button", kind, text);
  element.type = "button";
  element.onclick = does;
  return element;
};
let sections = 0;
// Makes a section with a heading, which is also its accessible name.
const section = (title, ...content) => {
  const head = make("h2", "", title), element = make("section", "", head, ...content);
  head.id = "part-" + sections++;
  element.setAttribute("aria-labelledby", head.id);
  return element;
};
const searchField = (label, value, does) => {
  const field = make("input");
  Object.assign(field, { type: "search", placeholder: label, size: 22, value: value || "" });
  field.setAttribute("aria-label", label);
  field.oninput = () => does(field.value);
  return field;
};
const command = (text) => {
  const copy = button("Copy", () => { navigator.clipboard?.writeText(text); copy.textContent = "Copied"; });
  return make("p", "command", make("code", "", text), " ", copy);
};
const save = (name, type, content) => {
  const address = URL.createObjectURL(new Blob([content], { type })), element = link(address, "");
  element.download = name;
  element.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

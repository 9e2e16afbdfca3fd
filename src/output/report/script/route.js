// Addresses have the form `#/VIEW/ID?OPTION=VALUE`. They contain all choices, so reload, back and a copied link keep the view.
const parseRoute = (hash) => {
  const [path, query] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const [view, id] = path.split(/\/(.*)/s);
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  return { view: view || "", id: decoded(id || ""), options: Object.fromEntries(new URLSearchParams(query || "")) };
};
const addressOf = (view, id, options = {}) => {
  const kept = Object.entries(options).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = kept.length ? "?" + new URLSearchParams(kept) : "";
  return "#/" + view + (id ? "/" + encodeURIComponent(id) : "") + query;
};
// Options with lists of their values, from pairs, and back: some may be repeated, such as `where`.
const valuesOf = (pairs) => Object.fromEntries(pairs.map(([key]) => [key, pairs.filter(([other]) => other === key).map(([, value]) => value)]));
const pairsOf = (options) => Object.entries(options).flatMap(([key, values]) => [values].flat().map((value) => [key, value]));
const objectAddress = (id) => addressOf("object", id);
const typeAddress = (type, options = {}) => addressOf("objects", "", { type, ...options });
const tableAddress = (title, options) => addressOf("table", slug(title), options);
const functionAddress = (name) => addressOf("function", "", { name });
// Interprets a search: the address of an object, a pattern, or a part of a name or text.
const meant = (text) => {
  const word = text.trim();
  if (/^(0x[0-9a-f]+|#\d+|@\d+)$/i.test(word)) return { object: word };
  if (/^"(.*)"?$/s.test(word)) return { value: word.replace(/^"|"$/g, "") };
  return { type: /[*?{]/.test(word) ? word : "*" + word + "*" };
};

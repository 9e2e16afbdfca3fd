// The snapshot that the address names, as in `?snapshot=2#/…`. The server has a page for each snapshot.
const chosenSnapshot = report.live ? Object.fromEntries([...new URLSearchParams(location.search)].filter(([key]) => key === "snapshot")) : {};
// Requests documents from the server: those that the command line prints. A saved page has no server, and names the command to run instead.
const ask = async (verb, options) => {
  let response;
  try {
    response = await fetch("api/" + verb + "?" + new URLSearchParams(pairsOf({ ...options, ...chosenSnapshot })));
  } catch {
    throw Object.assign(new Error("The server is gone. Start it again, and open the address that it prints; what follows the # stays the same:"), { command: serveCommand() });
  }
  if (!response.ok) throw Object.assign(new Error((await response.text()).trim()), { status: response.status });
  return response.json();
};
// The options that the commands of a profile need for the numbers of the page.
const given = () => valuesOf(report.given || []);
// With `focus`, a tree has the callers of the functions, too.
const isCall = (node) => node.direction !== "callers";
// The command that prints what the page lacks.
const elsewhere = (...commands) => make("div", "elsewhere", make("p", "", "This page is a saved file. These commands show the rest:"), ...commands.map(command), command(serveCommand()));
const isObject = (it) => it !== null && typeof it === "object" && "id" in it && "shallow_bytes" in it;
// `class GenHeap`, not `java.lang.Class`.
const titleOf = (object) => plain(object.name && object.name.startsWith("class ") ? object.name : object.type);
const objectLink = (object) => make("span", "", link(objectAddress(object.id), "mono", ...breakable(titleOf(object)), " ", make("span", "id", plain(object.id))), " ", make("span", "dim", size(object.shallow_bytes) + (object.retained_bytes > object.shallow_bytes ? ", retains " + size(object.retained_bytes) : "")));
const BYTES = /(^|_)bytes$/;
// Any value of a document, as text.
const textOf = (key, it) => {
  if (it === null || it === undefined || it === "") return "-";
  if (isObject(it)) return titleOf(it) + " " + it.id;
  if (Array.isArray(it)) return it.map((one) => textOf("", one)).join(", ");
  if (typeof it === "object") return "text" in it || "value" in it ? textOf("", it.text ?? it.value) : JSON.stringify(it);
  if (typeof it === "number") return BYTES.test(key) ? size(it) : key === "share" ? percent(it, 1) : Number.isInteger(it) ? (it < 0 ? "-" : "") + count(Math.abs(it)) : String(it);
  return plain(String(it));
};
// The rows of a document as a table. Types and objects are links.
const documentTable = (title, rows, settings = {}) => {
  const has = (row, key) => row[key] !== null && row[key] !== undefined && row[key] !== false && row[key] !== "";
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => rows.some((row) => has(row, key) && row[key] !== 0));
  const columns = keys.map((key) => {
    const isNumber = rows.some((row) => typeof row[key] === "number");
    const text = (row) => textOf(key, row[key]);
    return {
      title: heading(key), isNumber, text, raw: (row) => (typeof row[key] === "object" ? text(row) : row[key]), key: (row) => (isNumber ? row[key] : text(row)),
      isMinor: ["namespace", "shallow_bytes", "external_bytes"].includes(key),
      node: (row) => {
        const it = row[key];
        if (isObject(it)) return objectLink(it);
        if (isHeap && typeof it === "string" && it && (key === "id" || key === "example")) return [link(objectAddress(it), "mono", plain(it)), ...(key === "id" && settings.isNew?.(row) ? [make("span", "new", "NEW")] : [])];
        if (isHeap && typeof it === "string" && it && key === "type") return link(typeAddress(it), "", ...breakable(plain(it)));
        return typeof it === "number" ? text(row) : breakable(shortened(text(row)));
      },
    };
  });
  const sort = settings.sortBy ? keys.indexOf(settings.sortBy) : -1;
  return dataTable({ title, columns, rows, sort, ...settings });
};

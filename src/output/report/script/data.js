// The data of the page.
const report = JSON.parse(document.getElementById("data").textContent);
const isHeap = report.kind === "heap";
const name = (at) => report.names[at];
const trees = report.trees.map(grow);
// The table of the threads of a profile, if it has several.
const threadTable = () => (isHeap ? undefined : report.tables.find((table) => table.title === "Threads"));
const isText = (column) => column.kind === "name" || column.kind === "text";
const value = (column, row) => (column.kind === "name" ? name(column.values[row]) : column.values[row]);
const shell = (word) => (/^[\w.,/:=@%+-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'");
const commandFor = (verb, ...words) => ["dumptool", verb, report.quoted + report.reading + report.options, ...words.map(shell)].join(" ");
const serveCommand = () => "dumptool serve " + (report.old ? shell(report.old) + " " : "") + report.quoted + report.reading + report.options;
// The line of an object in the tree of the page, or -1.
const lineOf = (id) => (trees.length && trees[0].object ? trees[0].object.findIndex((at) => name(at) === id) : -1);
const label = (tree, at) => plain(name(tree.name[at])) || "(unnamed)";
const space = (tree, at) => (tree.namespace ? name(tree.namespace[at]) : "");
const idOf = (tree, at) => (tree.object ? name(tree.object[at]) : "");
// The address of the object or type of a line.
const lineAddress = (tree, at) => {
  if (!isHeap) return at && !tree.outer.has(at) && !/^… /.test(label(tree, at)) ? functionAddress(label(tree, at).replace(/ \([^()]*\)$/, "")) : "";
  const id = idOf(tree, at);
  if (id) return objectAddress(id);
  return at && tree.count && tree.count[at] > 0 ? typeAddress(name(tree.name[at])) : "";
};
// The fields that the page itself has of an object, in the form of a document of `show`.
const storedDocument = (id) => (Object.hasOwn(report.objects || {}, id) ? report.objects[id] : null);
// The address that a name in a table links to.
const cellAddress = (table, column, text) => {
  if (!text) return "";
  if (column.title === "Example") return objectAddress(text);
  if (!isHeap) return ["Functions", "Functions that changed", "Functions over time"].includes(table.title) && column.title === "Name" ? functionAddress(text) : "";
  if (column.title === "Type") return typeAddress(text);
  if (column.title === "Stack") return "";
  if (column.title !== "Name") return "";
  if (table.title === "Types that changed") return typeAddress(text, { new: 1 });
  if (table.title === "Roots") return addressOf("tree", "", { root: text });
  return table.title.startsWith("Threads") ? addressOf("thread", text.split(", ")[0]) : typeAddress(text);
};

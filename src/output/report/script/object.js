// The view of an object: type and sizes, path to a root, contents, and what the object retains.
const objectView = async (route) => (report.live ? liveObject(route.id) : storedObject(route.id));
// The part of the view that needs no server.
const storedObject = (id) => {
  const at = lineOf(id), it = storedDocument(id), content = it ? [factsOf(it)] : [];
  const title = it ? titleOf(it.object) + " " + plain(id) : (at >= 0 ? label(trees[0], at) + " " : "Object ") + plain(id);
  if (at >= 0 && !it) content.push(make("p", "", make("strong", "", amount(trees[0].total[at], report.unit)), ` retained (${percent(trees[0].total[at], trees[0].total[0])}), ${amount(trees[0].own[at], report.unit)} shallow`));
  for (const suspect of report.suspects) {
    const step = (suspect.objects || []).indexOf(id);
    if (step >= 0) content.push(section("On the path to a suspect", way(suspect.path.map((text, i) => [text, suspect.objects[i] && i !== step ? objectAddress(suspect.objects[i]) : ""]))));
  }
  if (at >= 0) content.push(section("Held by", way([...above(trees[0], at), at].map((line) => [label(trees[0], line) + " " + plain(idOf(trees[0], line)), line === at ? "" : lineAddress(trees[0], line)]))));
  if (it) content.push(...contentsOf(it));
  if (at >= 0) content.push(section("What it retains", unfolding([nodeOfLine(trees[0], at)], report.unit)), make("p", "more", link(addressOf("", "", { zoom: id }), "go", "Show in the picture")));
  return { title, content: [...content, elsewhere(commandFor("show", id), commandFor("path", id))] };
};
const liveObject = async (id) => {
  const options = { object: id };
  // The server prepares these trees for large objects.
  const [it, held, below] = await Promise.all([ask("show", options), ask("path", options), ask("tree", { ...options, depth: 6, limit: 60, "min-share": 0.001 })]);
  const content = [factsOf(it)];
  if (held.paths.length) {
    const [first, ...others] = held.paths.map(pathWay);
    content.push(section("Who holds it", first, ...(others.length ? [folded(others.length === 1 ? "Another path" : "Other paths", ...others)] : [])));
  }
  content.push(...contentsOf(it));
  if (below.nodes.length > 1) content.push(section("What it retains", unfolding(nodesOf(below.nodes), "bytes")));
  if (it.referrers.length) content.push(folded(`Referrers (${count(it.referrers.length + (it.omitted.referrers || 0))})`, documentTable("Referrers", it.referrers), ...moreOf(it, "referrers")));
  if (it.roots.length > 1) content.push(folded(`Roots (${count(it.roots.length)})`, documentTable("Roots", it.roots)));
  return { title: titleOf(it.object) + " " + plain(it.object.id), content };
};
// The sizes of an object, and its value.
const factsOf = (it) => {
  const { object } = it, shownValue = it.value && textOf("", it.value);
  const facts = [
    `${size(object.shallow_bytes)} shallow`, object.retained_bytes ? `retains ${size(object.retained_bytes)}` : "", it.external_bytes ? size(it.external_bytes) + " external" : "",
    it.reachable === false ? "not alive" : "", it.collection ? `${it.collection.kind} of ${count(it.collection.size ?? 0)}` : "",
  ].filter(Boolean).join(" · ");
  const line = make("p", "", ...(it.new ? [make("span", "new", "NEW"), " "] : []), facts, " · ", link(typeAddress(object.type), "", "all " + shortened(short(plain(object.type)), 60)), it.dominator ? " · freed with " : "", it.dominator ? objectLink(it.dominator) : "");
  return make("div", "", line, ...(shownValue && shownValue !== "-" ? [make("pre", "value", shortened(shownValue))] : []));
};
// The entries, fields, elements and references of an object.
const contentsOf = (it) => {
  const content = [];
  if (it.location) content.push(make("p", "dim", "Defined at " + (it.location.file ? plain([it.location.file, it.location.line, it.location.column].filter((part) => part !== null && part !== undefined).join(":")) : textOf("", it.location))));
  if (it.allocation) content.push(section("Where it was allocated", make("pre", "value", allocationText(it.allocation))));
  if (it.entries && it.entries.length) content.push(section("Entries", entriesTable(it.entries, it.collection), ...moreOf(it, "entries")));
  const named = (it.fields || []).filter((field) => field.name !== undefined);
  if (named.length && !(it.entries && it.entries.length)) content.push(section("Fields", fieldsTable(named), ...moreOf(it, "fields")));
  else if (named.length) content.push(folded("Fields (" + count(named.length) + ")", fieldsTable(named)));
  if (it.elements && it.elements.length) content.push(section("Elements", documentTable("Elements", it.elements), ...moreOf(it, "elements")));
  // Fields and elements show the references already, unless the type is unknown.
  if (!named.length && !(it.elements || []).length && !(it.entries || []).length && it.references.length) content.push(section("References", documentTable("References", it.references), ...moreOf(it, "references")));
  return content;
};
const moreOf = (it, key) => {
  const left = (it.omitted || {})[key];
  return left ? [make("p", "dim", count(left) + " more; ", make("code", "", commandFor("show", it.object.id, key === "entries" ? "--entries=0" : "--limit=0")))] : [];
};
const folded = (title, ...content) => make("details", "", make("summary", "", title), ...content);
const pathWay = (path) => {
  const text = (step) => (step.label ? plain(step.label) + " " : "") + titleOf(step.object);
  const shown = (step) => [text(step) + " " + step.object.id + (step.object.retained_bytes ? ", retains " + size(step.object.retained_bytes) : ""), objectAddress(step.object.id)];
  const steps = runsOf(path.steps, text).flatMap((run) => (run.length > 3 ? [shown(run[0]), [`… ${count(run.length - 2)} times ${text(run[0])}`, ""], shown(run.at(-1))] : run.map(shown)));
  const cut = steps.length > 60 ? [...steps.slice(0, 30), [`… ${count(steps.length - 60)} lines`, ""], ...steps.slice(-30)] : steps;
  return way([[rootText(path.root), ""], ...cut]);
};
// The kind of a root, unless its name contains the kind, as in `system class: Main`.
const rootText = ({ kind, label }) => (label.toLowerCase().split(/\s+/).slice(0, 2).some((word) => word.replace(/:$/, "") === kind) ? plain(label) : kind + " " + plain(label));
const allocationText = (it) => (Array.isArray(it.frames) ? it.frames.map((frame) => plain(frame.function + (frame.file ? " (" + frame.file + (frame.line ? ":" + frame.line : "") + ")" : ""))).join("\n") : textOf("", it));
// A value or an object, or both, as one cell.
const side = (it) => {
  if (it === null || it === undefined) return "-";
  if (typeof it !== "object") return textOf("", it);
  const text = it.value === null || it.value === undefined ? "" : shortened(textOf("", it.value), 200);
  if (!it.object) return text || "null";
  return [...(text ? [link(objectAddress(it.object.id), "", text), " ", make("span", "dim", titleOf(it.object))] : [objectLink(it.object)])];
};
const sideText = (it) => (it && typeof it === "object" ? [it.value === null || it.value === undefined ? "" : textOf("", it.value), it.object ? textOf("", it.object) : ""].filter(Boolean).join(" ") || "null" : textOf("", it));
const retainedOf = (it) => (it && it.object ? it.object.retained_bytes || 0 : 0);
const sideColumn = (title, of) => ({ title, text: (row) => sideText(of(row)), key: (row) => sideText(of(row)), node: (row) => side(of(row)) });
const retainedColumn = (of) => ({ title: "Retained", isNumber: true, text: (row) => (of(row) ? size(of(row)) : "-"), raw: of, key: of, node: (row) => (of(row) ? size(of(row)) : "-") });
const entriesTable = (entries, collection) => {
  const isMap = entries.some((entry) => entry.key !== undefined && entry.key !== null);
  const columns = [...(isMap ? [sideColumn("Key", (entry) => entry.key)] : []), sideColumn("Value", (entry) => entry.value ?? entry), retainedColumn((entry) => retainedOf(entry.key) + retainedOf(entry.value ?? entry))];
  return dataTable({ title: "Entries", columns, rows: entries, total: collection?.size || entries.length });
};
const fieldsTable = (fields) => dataTable({
  title: "Fields", rows: fields,
  // The type column is shown if any field has a declared type.
  columns: [
    { title: "Field", text: (field) => plain(String(field.name)), key: (field) => field.name, node: (field) => breakable(plain(String(field.name))) },
    sideColumn("Value", (field) => ({ value: field.value, object: field.object })),
    ...(fields.some((field) => field.type) ? [{ title: "Type", isMinor: true, text: (field) => plain(field.type || ""), key: (field) => field.type || "", node: (field) => plain(field.type || "") }] : []),
    retainedColumn(retainedOf),
  ],
});

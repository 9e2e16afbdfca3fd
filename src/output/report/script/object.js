// One object: what it is, who holds it, what is in it, what it retains.
const objectView = async (route) => (report.live ? liveObject(route.id) : storedObject(route.id));
// What the page itself knows about an object.
const storedObject = (id) => {
  const at = lineOf(id), title = (at >= 0 ? label(trees[0], at) + " " : "Object ") + plain(id), content = [];
  if (at >= 0) {
    const tree = trees[0];
    content.push(make("p", "", make("strong", "", amount(tree.total[at], report.unit)), ` retained (${percent(tree.total[at], tree.total[0])}), ${amount(tree.own[at], report.unit)} shallow`));
    content.push(section("Held by", way([...above(tree, at), at].map((line) => [label(tree, line) + " " + plain(idOf(tree, line)), line === at ? "" : lineAddress(tree, line)]))));
    content.push(section("What it retains", unfolding([nodeOfLine(tree, at)], report.unit)));
    content.push(make("p", "more", link(addressOf("", "", { zoom: id }), "go", "Show in the picture")));
  }
  for (const suspect of report.suspects) {
    const step = (suspect.objects || []).indexOf(id);
    if (step >= 0) content.push(section("On the path to what stands out", way(suspect.path.map((text, i) => [text, suspect.objects[i] && i !== step ? objectAddress(suspect.objects[i]) : ""]))));
  }
  return { title, content: [...content, elsewhere(commandFor("show", id), commandFor("path", id))] };
};
const liveObject = async (id) => {
  const options = { object: id };
  // The server computes these trees of large objects ahead.
  const [it, held, below] = await Promise.all([ask("show", options), ask("path", options), ask("tree", { ...options, depth: 6, limit: 60, "min-share": 0.001 })]);
  const { object } = it, left = it.omitted || {};
  const shownValue = it.value && textOf("", it.value);
  const facts = [
    `${size(object.shallow_bytes)} shallow`, object.retained_bytes ? `retains ${size(object.retained_bytes)}` : "", it.external_bytes ? size(it.external_bytes) + " external" : "",
    it.reachable === false ? "not alive" : "", it.collection ? `${it.collection.kind} of ${count(it.collection.size ?? 0)}` : "",
  ].filter(Boolean).join(" · ");
  const content = [
    make("p", "", facts, " · ", link(typeAddress(object.type), "", "all " + shortened(short(plain(object.type)), 60)), it.dominator ? " · freed with " : "", it.dominator ? objectLink(it.dominator) : ""),
  ];
  if (shownValue && shownValue !== "-") content.push(make("pre", "value", shortened(shownValue)));
  if (held.paths.length) {
    const [first, ...others] = held.paths.map(pathWay);
    content.push(section("Who holds it", first, ...(others.length ? [folded(others.length === 1 ? "Another path" : "Other paths", ...others)] : [])));
  }
  if (it.location) content.push(make("p", "dim", "Defined at " + (it.location.file ? plain([it.location.file, it.location.line, it.location.column].filter((part) => part !== null && part !== undefined).join(":")) : textOf("", it.location))));
  if (it.allocation) content.push(section("Where it was allocated", make("pre", "value", allocationText(it.allocation))));
  const more = (key) => (left[key] ? [make("p", "dim", count(left[key]) + " more; ", make("code", "", commandFor("show", id, key === "entries" ? "--entries=0" : "--limit=0")))] : []);
  if (it.entries && it.entries.length) content.push(section("Entries", entriesTable(it.entries, it.collection), ...more("entries")));
  const named = (it.fields || []).filter((field) => field.name !== undefined);
  if (named.length && !(it.entries && it.entries.length)) content.push(section("Fields", fieldsTable(named)));
  else if (named.length) content.push(folded("Fields (" + count(named.length) + ")", fieldsTable(named)));
  if (it.elements && it.elements.length) content.push(section("Elements", documentTable("Elements", it.elements), ...more("elements")));
  // Fields and elements are references: these are only shown where the type is not known.
  if (!named.length && !(it.elements || []).length && !(it.entries || []).length && it.references.length) content.push(section("References", documentTable("References", it.references), ...more("references")));
  if (below.nodes.length > 1) content.push(section("What it retains", unfolding(nodesOf(below.nodes), "bytes")));
  if (it.referrers.length) content.push(folded(`Referrers (${count(it.referrers.length + (left.referrers || 0))})`, documentTable("Referrers", it.referrers), ...more("referrers")));
  if (it.roots.length > 1) content.push(folded(`Roots (${count(it.roots.length)})`, documentTable("Roots", it.roots)));
  return { title: titleOf(object) + " " + plain(object.id), content };
};
const folded = (title, ...content) => make("details", "", make("summary", "", title), ...content);
const pathWay = (path) => {
  const text = (step) => (step.label ? plain(step.label) + " " : "") + titleOf(step.object);
  const shown = (step) => [text(step) + " " + step.object.id + (step.object.retained_bytes ? ", retains " + size(step.object.retained_bytes) : ""), objectAddress(step.object.id)];
  const steps = runsOf(path.steps, text).flatMap((run) => (run.length > 3 ? [shown(run[0]), [`… ${count(run.length - 2)} times ${text(run[0])}`, ""], shown(run.at(-1))] : run.map(shown)));
  const cut = steps.length > 60 ? [...steps.slice(0, 30), [`… ${count(steps.length - 60)} lines`, ""], ...steps.slice(-30)] : steps;
  return way([[rootText(path.root), ""], ...cut]);
};
// The kind of a root, unless its name says it: `system class: Main`.
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
  // Types are known where fields are declared.
  columns: [
    { title: "Field", text: (field) => plain(String(field.name)), key: (field) => field.name, node: (field) => breakable(plain(String(field.name))) },
    sideColumn("Value", (field) => ({ value: field.value, object: field.object })),
    ...(fields.some((field) => field.type) ? [{ title: "Type", isMinor: true, text: (field) => plain(field.type || ""), key: (field) => field.type || "", node: (field) => plain(field.type || "") }] : []),
    retainedColumn(retainedOf),
  ],
});

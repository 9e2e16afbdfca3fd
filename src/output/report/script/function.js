// The view of a function of a profile: its callers, then its callees.
const functionView = async (route) => {
  const wanted = route.options.name || "", title = plain(wanted);
  // Names in the picture contain the file as well.
  const isIt = (text) => text === wanted || text.replace(/ \([^()]*\)$/, "") === wanted;
  const tree = trees[0], numbers = new Set(report.names.flatMap((text, at) => (isIt(text) ? [at] : [])));
  const table = report.tables.find((of) => of.columns[0].title === "Name"), columns = table ? columnsOfReport(table) : [];
  // Functions of one name may be in several files.
  const rows = table ? table.columns[0].values.flatMap((of, row) => (isIt(name(of)) ? [row] : [])) : [], files = table?.columns.find((column) => column.title === "File");
  const facts = (row) => make("p", "", columns.slice(1).map((column) => column.title + " " + column.text(row)).join(" · "));
  const rowOf = (text) => rows.find((row) => { const own = name(table.columns[0].values[row]), file = files ? name(files.values[row]) : ""; return text === (file ? own + " (" + file + ")" : own); });
  const whole = tree.total[0];
  const content = [make("p", "more", link(addressOf("", "", { search: wanted, as: "flame" }), "go", "Show in the picture"), " ", link(addressOf("", "", { search: wanted, as: "flame", tree: trees.length > 1 ? 1 : "" }), "go", "Callers as a picture"))];
  // What a caller takes in other ways is not in the tree, so callers have no cost of their own here.
  const below = (node, isCallee) => [...node.below].sort((a, b) => b[1].total - a[1].total).map(([key, child]) => ({
    name: plain(name(key)), address: functionAddress(name(key).replace(/ \([^()]*\)$/, "")), count: 1, total: child.total, share: child.total / Math.max(1, whole),
    own: isCallee ? Math.max(0, child.total - [...child.below.values()].reduce((sum, of) => sum + of.total, 0)) : null,
    load: child.below.size ? async () => below(child, isCallee) : null,
  }));
  const found = [...numbers].map((number) => ({ text: name(number), ...sandwich(tree, number) })).filter(({ callers }) => callers.total);
  if (!found.length) content.unshift(...rows.map(facts));
  for (const { text, callers, callees } of found) {
    const row = rowOf(text) ?? (found.length === 1 ? rows[0] : undefined), of = found.length > 1 ? " " + shortened(plain(text), 100) : "";
    if (row !== undefined) content[found.length > 1 ? "push" : "unshift"](facts(row));
    content.push(section(of ? "Who calls" + of : "Called by", callers.below.size ? unfolding(below(callers, false), report.unit) : make("p", "dim", "Nothing: it is the outermost function.")));
    content.push(section("Calls" + (of && " of") + of, callees.below.size ? unfolding(below(callees, true), report.unit) : make("p", "dim", "Nothing: it has only a cost of its own.")));
  }
  if (!found.length) content.push(make("p", "", "The picture has no box of this function: it is too narrow, or was left out."));
  content.push(elsewhereForFunction(wanted));
  return { title: title || "Function", content };
};
const elsewhereForFunction = (wanted) => make("div", "elsewhere", make("p", "", "All callers and callees, from the complete profile:"), command(commandFor("tree", "--focus", wanted)));
// Loads the tree of another metric or of one thread from the server, in the form of the page's own.
let metrics = null;
const metricsOf = async () => (metrics ||= (await ask("info", {})).profile.metrics.map((metric) => ({ name: metric.name, isDefault: metric.default })));
const numbers = new Map(report.names.map((text, at) => [text, at]));
const numberOf = (text) => {
  if (!numbers.has(text)) numbers.set(text, report.names.push(text) - 1);
  return numbers.get(text);
};
const treesOf = async (metric, thread) => {
  const byThread = !thread && threadTable(), chosen = { ...(metric ? { metric } : {}), ...(thread ? { thread } : {}) };
  const it = await ask("tree", { ...given(), limit: 8000, "min-share": "0.02%", ...(byThread ? { by: "thread" } : {}), ...chosen });
  const columns = { title: ["Calls", ...Object.values(chosen)].join(" · "), depth: [], name: [], total: [], own: [], outer: [] };
  for (const node of it.nodes.filter(isCall)) {
    if (byThread && node.depth === 1) columns.outer.push(columns.depth.length);
    columns.depth.push(node.depth);
    columns.name.push(numberOf(node.namespace ? node.name + " (" + node.namespace + ")" : node.name));
    columns.total.push(node.total);
    columns.own.push(node.self);
  }
  return [[grow(columns)], it.unit];
};

// The objects of a type or the results of a search, sorted by retained size, largest first.
const STEP = 200;
const objectsView = async (route, change) => {
  const { type, value: text, new: isNew, unreachable, limit, sort, order, filter, ...others } = route.options;
  const what = [type, text && '"' + text + '"', unreachable && "not alive", ...Object.values(others)].filter(Boolean).map(plain).join(" ");
  const title = what || "All objects", settings = { options: route.options, change };
  const sections = [];
  const row = type && report.tables.find((table) => ["Types", "Types that changed"].includes(table.title));
  const at = row ? row.columns[0].values.findIndex((of) => name(of) === type) : -1;
  const facts = at >= 0 ? row.columns.slice(1).map((column) => column.title + " " + columnsOfReport(row).find((of) => of.title === column.title).text(at)).join(" · ") : "";
  const find = { ...(type ? { type } : {}), ...(text ? { value: text } : {}), ...(unreachable ? { unreachable: "" } : {}), ...others };
  if (!report.live) {
    const stored = Object.values(report.objects || {}).filter((it) => type && it.object.type === type);
    if (stored.length) {
      const marks = stored.some((it) => it.new) ? "NEW: not in " + plain(report.old) + ". " : "";
      const known = new Set(stored.filter((it) => it.new).map((it) => it.object.id));
      sections.push(section("Some of them", make("p", "dim", marks + "The page has the contents of these."), documentTable("Objects", stored.map((it) => it.object), { sortBy: "retained_bytes", isNew: (row) => known.has(row.id) })));
    }
    const lines = trees.length ? trees[0].name.flatMap((of, line) => (type && name(of) === type ? [line] : [])) : [];
    lines.sort((a, b) => trees[0].total[b] - trees[0].total[a] || a - b);
    if (lines.length) sections.push(section("In the tree", unfolding(lines.slice(0, 200).map((line) => nodeOfLine(trees[0], line)), report.unit)));
    const words = Object.entries(find).map(([key, value]) => "--" + key + (value ? "=" + value : ""));
    sections.push(elsewhere(commandFor("find", ...words), ...(type ? [commandFor("path", "--type", type)] : [])));
    return { title, content: [make("p", "dim", facts), ...sections] };
  }
  const most = +limit || STEP;
  const born = report.old && type && !/[*?{]/.test(type) ? ask("diff", { objects: "", type, limit: 50 }).catch((error) => error) : null;
  const it = await ask("find", { limit: most, ...find });
  const rows = it.objects || it.rows, whole = it.total ? it.total.count : rows.length;
  if (born) {
    const known = await born, ids = new Set((known.rows || []).flatMap((row) => row.examples.map((object) => object.id)));
    sections.push(...newObjects(known));
    settings.isNew = (row) => ids.has(row.id);
  }
  const next = whole > rows.length ? link(addressOf("objects", "", { ...route.options, limit: most + STEP * 5 }), "go", "Show " + count(Math.min(STEP * 5, whole - rows.length)) + " more of " + count(whole)) : null;
  const leads = make("p", "more");
  if (type && !/[*?{]/.test(type)) leads.append(link(addressOf("paths", "", { type }), "go", "Who holds them, merged"));
  const part = /^\*([^*?{]+)\*$/.exec(type || "");
  if (part) leads.append(link(addressOf("objects", "", { value: part[1] }), "go", 'Objects with the text "' + part[1] + '"'));
  const count_ = it.total ? `${count(it.total.count)} objects, ${size(it.total.shallow_bytes)} shallow` : "";
  return { title, content: [make("p", "dim", facts || count_), leads, ...sections, rows.length ? documentTable("Objects", rows, { ...settings, total: whole, all: next, most: most }) : make("p", "", "Nothing matches.")] };
};
// The objects that are not in the older dump, if objects of both dumps can be matched.
const newObjects = (it) => {
  if (it instanceof Error) return [make("p", "dim", "Which of them are new is not known: " + it.message.replace(/^error: /, ""))];
  const rows = it.rows.filter((row) => row.new > 0);
  if (!rows.length) return [make("p", "dim", "None of them is new.")];
  return [section("Born after " + plain(report.old), ...rows.flatMap((row) => [
    make("p", "", `${count(row.new)} new, ${count(row.gone)} gone, ${count(row.kept)} in both dumps. ${row.new > row.examples.length ? `The ${count(row.examples.length)} new ones that retain most are marked below` : "All new ones are marked below"}; the largest are:`),
    make("ul", "", ...row.examples.slice(0, 10).map((object) => make("li", "", make("span", "new", "NEW"), " ", objectLink(object)))),
  ]))];
};
// The paths to all objects of a type, merged.
const pathsView = async (route) => {
  const { type } = route.options, title = "Who holds " + plain(type || "");
  if (!report.live) return { title, content: [elsewhere(commandFor("path", "--type", type))] };
  const it = await ask("path", { type, limit: route.options.limit || 20 });
  const paths = it.paths.map((path) => {
    const steps = path.steps.map((step) => [(step.label ? plain(step.label) + " " : "") + plain(step.type) + (step.repeats ? " ×" + step.repeats.most : ""), step.object ? objectAddress(step.object) : /^class /.test(step.type) ? "" : typeAddress(step.type)]);
    return section(`${count(path.count)} · ${size(path.bytes)}`, way([[plain(path.root.kind + " " + path.root.label), ""], ...steps]), make("p", "more", link(objectAddress(path.example), "go", "An example: " + path.example)));
  });
  return { title, content: [make("p", "dim", `${count(it.total.count)} objects, ${size(it.total.bytes)} shallow`), ...paths] };
};
// The steps of a path, one per line, with links to objects and types.
const way = (steps) => make("ol", "way mono", ...steps.map(([text, address]) => make("li", "", address ? link(address, "", ...breakable(shortened(text, 300))) : shortened(text, 300))));

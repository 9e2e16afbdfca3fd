// The first screen is in the HTML. This script adds the picture, the tables, and the view for each address.
const answer = document.getElementById("answer"), view = make("main", "view");
const tableView = async (route, change) => {
  const table = report.tables.find((of) => slug(of.title) === route.id);
  if (!table) throw new Error("The page has no such table.");
  const cut = table.rows > table.columns[0].values.length ? make("p", "dim", "The page has the first " + count(table.columns[0].values.length) + " rows; `dumptool` prints all.") : null;
  const wanted = route.options.package, all = wanted ? [make("p", "more", link(tableAddress(table.title), "go", "All " + table.title.toLowerCase()))] : [];
  return { title: wanted ? table.title + " of " + plain(wanted) : table.title, content: [...all, ...(table.note ? [make("p", "dim", table.note)] : []), reportTable(table, { options: route.options, change, most: 100, more: cut })] };
};
const threadView = async (route) => {
  const table = report.tables.find((of) => of.title.startsWith("Threads")), title = "Thread " + plain(route.id);
  if (!report.live) return { title, content: [...(table ? [reportTable(table, { options: { filter: route.id } })] : []), elsewhere(commandFor("threads"))] };
  const it = await ask("threads", { limit: 0 });
  const group = it.groups.find((of) => of.name === route.id || (of.ids || of.names || []).map(String).includes(route.id)) || it.groups.find((of) => JSON.stringify(of).includes(JSON.stringify(route.id)));
  if (!group) return { title, content: [make("p", "", "It has no stack in this dump.")] };
  const frames = group.frames.map((frame) => make("li", "", make("span", "mono", plain(frame.function), make("span", "dim", frame.file ? ` ${plain(frame.file)}${frame.line ? ":" + frame.line : ""}` : "")),
    ...(frame.locals && frame.locals.length ? [make("ul", "", ...frame.locals.filter((local) => local.object).map((local) => make("li", "", local.name ? plain(local.name) + " " : "", objectLink(local.object))))] : [])));
  return { title, content: [make("p", "", [plain(group.state || ""), group.retained_bytes ? "retains " + size(group.retained_bytes) : ""].filter(Boolean).join(" · ")), make("ol", "stack", ...frames)] };
};
const VIEWS = { table: tableView, objects: objectsView, object: objectView, paths: pathsView, tree: treeView, thread: threadView, function: functionView, sql: sqlView };

// Each table has a view of its own. The first screen shows the beginning of the first table.
const tablesOnAnswer = document.getElementById("tables"), [firstTable] = report.tables;
// If a filter is set, the functions of that part of the profile.
const showFunctions = (tree, unit) => {
  if (!firstTable) return;
  const heading = tree ? "Functions in the selected part" : firstTable.title;
  if (tree ? false : tablesOnAnswer.dataset.of === heading) return;
  tablesOnAnswer.dataset.of = heading;
  if (!tree) return showFirstTable();
  const whole = Math.max(1, tree.total[0]), number = (title, of) => ({ title, isNumber: true, key: of, raw: of, text: (row) => amount(of(row), unit), node: (row) => amount(of(row), unit) });
  tablesOnAnswer.replaceChildren(section(heading, dataTable({
    title: "Functions", rows: functionsOf(tree), sort: 3, most: 50,
    columns: [
      { title: "Name", text: (row) => plain(name(row.name)), key: (row) => name(row.name), node: (row) => link(functionAddress(name(row.name).replace(/ \([^()]*\)$/, "")), "", ...breakable(plain(name(row.name)))) },
      { title: "Share", isNumber: true, isMinor: true, key: (row) => row.own, raw: (row) => row.own / whole, text: (row) => percent(row.own, whole), node: (row) => shareBar(row.own / whole) },
      number("Total", (row) => row.total), number("Self", (row) => row.own),
    ],
  })));
};
const showFirstTable = () => {
  const all = firstTable.columns[0].values.length > 20 ? link(tableAddress(firstTable.title), "go", "All " + count(firstTable.rows)) : null;
  tablesOnAnswer.replaceChildren(section(firstTable.title, reportTable(firstTable, { most: 20, all })));
};
if (firstTable) { tablesOnAnswer.dataset.of = firstTable.title; showFirstTable(); }
document.getElementById("curves").append(...(report.curves || []).map(curvePart));
const showPicture = trees.length ? picture(document.getElementById("picture")) : () => {};

const nav = make("nav", "top"), places = [["Answer", "#/"], ...report.tables.map((table) => [table.title.replace(" by stack", ""), tableAddress(table.title)])];
if (trees.length) places.push(["Tree", addressOf("tree")]);
if (report.live && isHeap) places.push(["Objects", addressOf("objects")]);
if (report.sql) places.push(["SQL", addressOf("sql")]);
nav.setAttribute("aria-label", "Views");
nav.append(...places.map(([text, address]) => link(address, "", text)), ...(report.live && report.snapshots ? [snapshotBox()] : []), searchBox());
document.body.prepend(nav);
view.hidden = true;
answer.after(view);

// Copies a path as text.
for (const card of answer.querySelectorAll(".card .way")) {
  const text = [...card.children].map((line, at) => "  ".repeat(at) + line.textContent).join("\n"), copy = button("Copy path", () => { navigator.clipboard?.writeText(text); copy.textContent = "Copied"; });
  card.parentElement.querySelector(".more")?.append(" ", copy);
}

const title = document.title;
let turn = 0, isFirst = true;
const go = async () => {
  const mine = ++turn, route = parseRoute(location.hash), chosen = Object.hasOwn(VIEWS, route.view) ? VIEWS[route.view] : null;
  for (const place of nav.querySelectorAll("a")) {
    const isOn = place.hash === (location.hash.split("?")[0] || "#/");
    if (isOn) place.setAttribute("aria-current", "page"); else place.removeAttribute("aria-current");
  }
  if (!chosen) {
    const wasHidden = answer.hidden;
    answer.hidden = false;
    view.hidden = true;
    document.title = title;
    try {
      await showPicture(route.options);
    } catch (error) {
      document.getElementById("picture").prepend(make("p", "warning", error.message));
    }
    if (mine !== turn) return;
    if (wasHidden) scrollTo(0, 0);
    if (isFirst && Object.keys(route.options).length) document.getElementById("picture").scrollIntoView();
    isFirst = false;
    return;
  }
  isFirst = false;
  view.setAttribute("aria-busy", "true");
  // Filtering and sorting change the address but do not draw the view again.
  const change = (patch) => { Object.assign(route.options, patch); history.replaceState(null, "", addressOf(route.view, route.id, route.options)); };
  let shown;
  try {
    shown = await chosen(route, change);
  } catch (error) {
    shown = { title: "Not shown", content: [make("p", "warning", error.message), ...(error.command ? [command(error.command)] : [])] };
  }
  // The user may have gone to another view in the meantime.
  if (mine !== turn) return;
  const head = make("h1", "plain", ...breakable(shortened(shown.title, 300)));
  head.tabIndex = -1;
  view.replaceChildren(head, ...shown.content);
  view.removeAttribute("aria-busy");
  answer.hidden = true;
  view.hidden = false;
  document.title = shortened(shown.title, 100) + " · " + title;
  scrollTo(0, 0);
  head.focus({ preventScroll: true });
};
// Opens all parts before the page is printed.
addEventListener("beforeprint", () => answer.querySelectorAll(".suspects details").forEach((details) => { details.open = true; }));
addEventListener("hashchange", go);
go();

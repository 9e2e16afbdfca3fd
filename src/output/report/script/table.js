// Tables. A click on a heading sorts, the field filters, and rows link to their object, type or function.
const MOST_ROWS = 500;
// A list of numbers is drawn as bars of text, scaled from the smallest to the largest. Screen readers get the numbers.
const spark = (numbers, unit) => {
  const least = Math.min(...numbers), range = Math.max(...numbers) - least, first = numbers[0], last = numbers[numbers.length - 1];
  const bars = make("span", last > first ? "up" : last < first ? "down" : "", numbers.map((number) => "▁▂▃▄▅▆▇█"[range ? Math.ceil((number - least) * 7 / range) : 3]).join(""));
  bars.setAttribute("role", "img");
  bars.title = numbers.map((number) => amount(number, unit)).join(", ");
  bars.setAttribute("aria-label", bars.title);
  return bars;
};
const shareBar = (share) => {
  const bar = make("span", "share");
  bar.style.width = Math.round(60 * Math.min(1, Math.max(0, share))) + "px";
  return make("span", "", make("span", "track", bar), " " + percent(share, 1));
};

// Shows rows of any kind. A column has a `title`, `text(row)` for files and filters, `key(row)` to sort by, `node(row)` to show, and
// whether it `isNumber` or `isMinor`. `options` are those of the address; `change` writes them there.
const dataTable = ({ title, columns, rows, total = rows.length, sort = -1, most = MOST_ROWS, all, more, options = {}, change = () => {} }) => {
  const head = make("thead"), body = make("tbody"), shown = make("span", "dim"), after = make("p", "more");
  const given = columns.findIndex((column) => slug(column.title) === options.sort);
  let at = given >= 0 ? given : sort, down = options.order ? options.order !== "up" : true, term = (options.filter || "").toLowerCase(), visible = most;
  const selected = () => {
    const found = rows.filter((row) => !term || columns.some((column) => !column.isNumber && column.text(row).toLowerCase().includes(term)));
    if (at < 0) return found;
    const { key } = columns[at], place = new Map(rows.map((row, i) => [row, i]));
    return found.sort((a, b) => { const x = key(a) ?? -Infinity, y = key(b) ?? -Infinity; return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || place.get(a) - place.get(b); });
  };
  const fill = () => {
    const found = selected();
    // Sorting replaces the headings. The new one gets the keyboard focus that the old one had.
    const isHere = head.contains(document.activeElement);
    head.replaceChildren(make("tr", "", ...columns.map((column, i) => {
      const sorter = button(column.title + (i === at ? (down ? " ▾" : " ▴") : ""), () => {
        down = i === at ? !down : Boolean(column.isNumber);
        at = i;
        change({ sort: slug(column.title), order: down ? "" : "up" });
        fill();
      });
      const th = make("th", (column.isNumber ? "number" : "") + (column.isMinor ? " minor" : ""), sorter);
      th.scope = "col";
      th.setAttribute("aria-sort", i !== at ? "none" : down ? "descending" : "ascending");
      return th;
    })));
    if (isHere && at >= 0) head.querySelectorAll("button")[at].focus();
    body.replaceChildren(...found.slice(0, visible).map((row) => make("tr", "", ...columns.map((column) => {
      const td = make("td", (column.isNumber ? "number" : "name mono") + (column.isMinor ? " minor" : ""), ...[column.node(row)].flat());
      if (column.sign && column.sign(row)) td.classList.add(column.sign(row) > 0 ? "up" : "down");
      return td;
    }))));
    const some = Math.min(visible, found.length);
    shown.textContent = some < total ? count(some) + " of " + count(total) + " shown" : count(total) + (total === 1 ? " row" : " rows");
    after.replaceChildren();
    if (found.length > visible) after.append(button("Show " + count(Math.min(MOST_ROWS, found.length - visible)) + " more", () => { visible += MOST_ROWS; fill(); }));
    else if (more) after.append(more);
    if (all) after.append(all);
  };
  const filter = searchField("Filter " + title.toLowerCase(), options.filter, (text) => { term = text.toLowerCase(); visible = most; change({ filter: text }); fill(); });
  const csv = button("CSV", () => save(slug(title) + ".csv", "text/csv", csvRow(columns.map((column) => column.title)) + selected().map((row) => csvRow(columns.map((column) => (column.raw || column.text)(row)))).join("")));
  csv.title = "Save these rows as a file of comma-separated values";
  fill();
  const scroll = make("div", "scroll", make("table", "", head, body));
  return make("div", "table", make("div", "bar", filter, shown, csv), scroll, after);
};

// The columns of a table of the page.
const columnsOfReport = (table) => table.columns.filter((column, at) => !at || !isText(column) || column.values.some((of) => name(of))).map((column) => {
  const isName = isText(column);
  const text = (row) => {
    const it = value(column, row);
    if (it === null) return "-";
    if (Array.isArray(it)) return it.join(" ");
    return isName ? plain(it) : column.kind === "share" ? percent(it, 1) : column.delta ? signed(it, column.kind) : amount(it, column.kind);
  };
  return {
    title: column.title, isNumber: !isName, text, raw: (row) => { const it = value(column, row); return Array.isArray(it) ? it.join(" ") : it; },
    isMinor: ["File", "State", "Example", "Share", "Shallow", "External", "Samples"].includes(column.title),
    key: (row) => [value(column, row)].flat().at(-1), sign: column.delta ? (row) => column.values[row] : undefined,
    node: (row) => {
      const it = value(column, row);
      if (Array.isArray(it)) return spark(it, column.kind);
      if (column.kind === "share") return shareBar(it);
      if (!isName) return text(row);
      const address = cellAddress(table, column, it);
      return address ? link(address, "", ...breakable(text(row))) : breakable(text(row));
    },
  };
});
const reportTable = (table, settings = {}) => {
  const columns = columnsOfReport(table), sorted = table.columns[table.sort];
  const file = table.columns.find((column) => column.title === "File"), wanted = settings.options?.package;
  const packageAt = (row) => packageOf(name(table.columns[0].values[row]), file ? name(file.values[row]) : "");
  const rows = table.columns[0].values.map((_, row) => row).filter((row) => !wanted || packageAt(row) === wanted);
  return dataTable({ title: table.title, columns, rows, total: table.rows, sort: columns.findIndex((column) => column.title === sorted.title), ...settings });
};

// A tree as expandable rows. A node has a name, numbers, and `load`, which returns its children, or nothing.
const unfolding = (nodes, unit) => {
  const body = make("tbody");
  const row = (node, depth) => {
    const toggle = node.load ? button("▸", null, "toggle") : make("span", "toggle");
    const text = breakable(shortened(node.name, 200)), title = node.address ? link(node.address, "", ...text) : make("span", "", ...text);
    const first = make("td", "name mono", toggle, node.label ? make("span", "dim", node.label + " ") : "", title, node.count > 1 ? " ×" + count(node.count) : "", node.isNew ? make("span", "new", "NEW") : "");
    first.style.paddingLeft = 6 + 14 * Math.min(depth, 24) + "px";
    const line = make("tr", "", first, make("td", "number", amount(node.total, unit)), make("td", "number minor", shareBar(node.share)), make("td", "number minor", node.own === null ? "" : amount(node.own, unit)));
    if (!node.load) return line;
    let below = null;
    const say = (isOpen) => { toggle.textContent = isOpen ? "▾" : "▸"; toggle.setAttribute("aria-expanded", isOpen); toggle.setAttribute("aria-label", (isOpen ? "Fold " : "Unfold ") + shortened(node.name, 60)); };
    const fold = (lines) => { for (const { line, below } of lines) { if (below()) fold(below()); line.remove(); } };
    toggle.onclick = async () => {
      if (below) { fold(below); below = null; say(false); return; }
      below = [];
      say(true);
      let found;
      try { found = await node.load(); } catch (error) { found = [{ name: error.message, total: 0, share: 0, own: 0 }]; }
      if (!below) return;
      below = found.map((child) => row(child, depth + 1)).map((line) => ({ line, below: () => line.unfolded?.() }));
      line.after(...below.map(({ line }) => line));
      if (!found.length) toggle.replaceWith(make("span", "toggle"));
      // A single child is expanded at once.
      if (below.length === 1) below[0].line.unfold?.();
    };
    line.unfolded = () => below;
    line.unfold = () => toggle.onclick();
    say(false);
    return line;
  };
  const lines = nodes.map((node) => row(node, 0));
  body.append(...lines);
  const titles = [["Name", ""], [isHeap ? "Retained" : "Total", "number"], ["Share", "number minor"], [isHeap ? "Shallow" : "Self", "number minor"]];
  const head = make("tr", "", ...titles.map(([title, kind]) => { const th = make("th", kind, title); th.scope = "col"; return th; }));
  if (nodes.length === 1) lines[0].unfold?.();
  return make("div", "scroll", make("table", "tree", make("thead", "", head), body));
};
// Makes an expandable row of a line of the page's tree.
const nodeOfLine = (tree, at) => ({
  name: label(tree, at), address: lineAddress(tree, at), count: tree.count ? tree.count[at] : 1, total: tree.now ? tree.now[at] : tree.total[at],
  own: tree.own[at], share: tree.total[at] / Math.max(1, tree.total[0]),
  load: tree.children[at].length ? async () => inSteps(tree.children[at], (child) => nodeOfLine(tree, child), (child) => tree.total[child], Math.max(1, tree.total[0])) : null,
});
// The first rows, and a row that shows more.
const inSteps = (all, node, total, whole, step = 50) => {
  const left = all.slice(step), sum = left.reduce((sum, one) => sum + total(one), 0);
  const more = left.length ? [{ name: "… " + count(left.length) + " smaller", address: "", count: 1, total: sum, own: 0, share: sum / whole, load: async () => inSteps(left, node, total, whole, step * 4) }] : [];
  return [...all.slice(0, step).map(node), ...more];
};

// The picture of a tree: a treemap, a flame graph or a table with expandable rows. The address contains the tree, the zoom and the search.
const ROW = 20, TALL = 380;
const COLORS = ["#ffb38a", "#9ec9f5", "#c9b8f7", "#a5e0b0", "#f5d67a", "#f3aecb"], OTHER = "#d5dae0";
const picture = (host) => {
  let all = trees, unit = report.unit, tree = trees[0], top = 0, focus = 0, as = "", query = "", drawn = [], options = {}, isOfAll = false;
  const chart = make("div", "chart"), detail = make("div", "detail"), crumbs = make("nav", "crumbs mono"), matched = make("span", "dim"), legend = make("p", "legend dim"), listing = make("div");
  crumbs.setAttribute("aria-label", "Lines above");
  const change = (patch) => { options = { ...options, ...patch }; history.replaceState(null, "", addressOf("", "", options)); };
  const search = searchField("Find in the picture", "", (text) => { query = text.toLowerCase(); change({ search: text }); draw(); });
  const here = (patch) => addressOf("", "", { ...options, ...patch });
  chart.tabIndex = 0;
  chart.setAttribute("role", "application");
  chart.setAttribute("aria-label", "Picture of the tree. Arrow keys move, Enter zooms in, Escape zooms out. The tab Table has the same as a table.");
  detail.setAttribute("aria-live", "polite");
  const zoomed = (at) => (idOf(tree, at) || (at ? String(at) : ""));
  const lineAt = (zoom) => {
    if (!zoom) return 0;
    const at = tree.object ? tree.object.findIndex((of) => name(of) === zoom) : -1;
    return at >= 0 ? at : /^\d+$/.test(zoom) && +zoom < tree.depth.length ? +zoom : 0;
  };
  // Packages, sorted by own value. The first ones have colours of their own.
  const packages = new Map();
  const packagesOf = (tree) => {
    const sums = new Map();
    tree.name.forEach((of, at) => {
      if (!at || !lineAddress(tree, at)) return;
      const key = packageOf(...partsOf(name(of)));
      sums.set(key, (sums.get(key) || 0) + tree.own[at]);
    });
    packages.clear();
    [...sums].sort((a, b) => b[1] - a[1]).slice(0, COLORS.length).forEach(([key], at) => packages.set(key, COLORS[at]));
  };
  const color = (at) => {
    if (at < 0) return OTHER;
    if (tree.delta) {
      const share = Math.min(1, Math.abs(tree.delta[at]) / Math.max(1, tree.total[at]));
      return tree.delta[at] > 0 ? `hsl(5 85% ${92 - 34 * share}%)` : tree.delta[at] < 0 ? `hsl(215 85% ${92 - 34 * share}%)` : "#e3e6ea";
    }
    if (!at) return OTHER;
    if (!isHeap) return packages.get(packageOf(...partsOf(name(tree.name[at])))) || OTHER;
    return `hsl(${hashed(space(tree, at) || label(tree, at)) % 360} 62% ${76 + hashed(label(tree, at)) % 8}%)`;
  };
  // The longest text that fits into a box: the name with its count, the name, or the name without package, path and file.
  const boxed = (box) => {
    if (box.at < 0) return box.few ? count(box.few) + (as === "flame" ? " too narrow" : " smaller") : "itself";
    const sign = !tree.delta || !tree.delta[box.at] ? "" : tree.delta[box.at] > 0 ? "▲ " : "▼ ", text = sign + label(tree, box.at);
    const all = tree.count && tree.count[box.at] > 1 ? text + " ×" + count(tree.count[box.at]) : text;
    return [all, text].find((text) => text.length * 6.4 + 6 <= box.wide) || sign + short(label(tree, box.at));
  };
  const matches = (at) => !query || (at >= 0 && (label(tree, at).toLowerCase().includes(query) || space(tree, at).toLowerCase().includes(query)));
  // The sum of the topmost lines that match.
  const found = () => {
    let sum = 0, inside = Infinity;
    tree.depth.forEach((depth, at) => {
      if (depth > inside) return;
      inside = Infinity;
      if (matches(at)) { sum += tree.total[at]; inside = depth; }
    });
    return sum;
  };
  const words = (at) => {
    const [all, own] = isHeap ? ["retained", "shallow"] : ["total", "self"];
    let text = `${amount(tree.now ? tree.now[at] : tree.total[at], unit)} ${all} (${percent(tree.total[at], tree.total[0])})`;
    text += tree.now ? `, was ${amount(tree.now[at] - tree.delta[at], unit)}` : `, ${amount(tree.own[at], unit)} ${own}`;
    if (tree.count) text += " · " + count(tree.count[at]) + (tree.count[at] === 1 ? " object" : " objects");
    return text;
  };
  const tell = (at) => {
    const address = lineAddress(tree, at), text = label(tree, at);
    const second = make("span", "", words(at));
    if (tree.delta) second.append(" ", make("b", tree.delta[at] > 0 ? "up" : "down", signed(tree.delta[at], unit)));
    detail.replaceChildren(make("div", "", address ? link(address, "mono strong", text) : make("b", "mono", text), " ", make("span", "dim", space(tree, at))), second);
  };
  const draw = () => {
    matched.textContent = query ? percent(found(), tree.total[0]) + " match" : "";
    crumbs.replaceChildren(...[...above(tree, top), top].flatMap((at, place) => [place ? " › " : "", link(here({ zoom: zoomed(at) }), "", shortened(label(tree, at), 60))]));
    crumbs.hidden = top === 0;
    if (as === "table") return;
    const width = Math.max(10, chart.clientWidth - 2), isFlame = as === "flame", high = innerWidth < 600 ? TALL - 80 : TALL;
    // `Time order` is the order of the recording. `Left-heavy` puts the largest first.
    drawn = (isFlame ? flameBoxes(tree, top, width, options.order === "heavy") : treemapBoxes(tree, top, width, high))
      .map((box) => (isFlame ? { ...box, y: box.row * ROW, high: ROW - 1, wide: Math.max(1, box.wide - 1) } : { ...box, wide: Math.max(1, box.wide - 1), high: Math.max(1, box.high - 1) }));
    let rows = 0;
    const boxes = drawn.map((box) => {
      const kind = "box" + (matches(box.at) ? "" : " other") + (box.at >= 0 && box.at === focus ? " focus" : "") + (box.at < 0 ? " rest" : "") + (box.wide < 70 ? " narrow" : "");
      const element = make("a", kind);
      element.tabIndex = -1;
      element.href = here({ zoom: zoomed(box.at < 0 ? box.of : box.at) });
      Object.assign(element.style, { left: 100 * box.x / width + "%", top: box.y + "px", width: 100 * box.wide / width + "%", height: box.high + "px", background: color(box.at) });
      if (box.wide > 24 && box.high > 12) element.textContent = boxed(box);
      else element.setAttribute("aria-label", box.at < 0 ? "smaller ones" : label(tree, box.at));
      if (!isFlame && box.at >= 0 && box.high > 34 && box.wide > 60) element.append(make("br"), make("small", "", amount(tree.total[box.at], unit)));
      element.dataset.at = box.at;
      if (box.at < 0) element.title = (box.few ? count(box.few) + " smaller" : "itself") + ": " + amount(box.sum, unit) + (box.few ? "; zoom in to see them" : "");
      rows = Math.max(rows, box.y + box.high);
      return element;
    });
    chart.style.height = rows + 3 + "px";
    chart.replaceChildren(...boxes);
  };
  const move = (at) => { if (at === undefined || at < 0) return; focus = at; if (at < top) top = at; draw(); tell(at); };
  const zoomTo = (at) => { location.hash = here({ zoom: zoomed(at) }); };
  chart.onmouseover = (event) => {
    const box = event.target.closest(".box"), at = box ? +box.dataset.at : -1;
    if (at < 0) return;
    box.title = label(tree, at) + "\n" + words(at) + (tree.delta ? " " + signed(tree.delta[at], unit) : "");
    tell(at);
  };
  chart.onkeydown = (event) => {
    const siblings = focus ? tree.children[tree.parent[focus]] : [0], place = siblings.indexOf(focus);
    const keys = {
      ArrowUp: () => move(tree.parent[focus]), ArrowDown: () => move(tree.children[focus][0]),
      ArrowLeft: () => move(siblings[place - 1]), ArrowRight: () => move(siblings[place + 1]),
      Enter: () => zoomTo(focus), Escape: () => zoomTo(Math.max(0, tree.parent[top])),
    };
    if (keys[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); }
  };
  const svgFile = () => {
    const width = chart.clientWidth, high = chart.clientHeight, all = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: high, viewBox: `0 0 ${width} ${high}`, "font-family": "sans-serif", "font-size": 11 });
    for (const box of drawn) {
      const cell = svgElement("svg", { x: box.x.toFixed(1), y: box.y.toFixed(1), width: box.wide.toFixed(1), height: box.high.toFixed(1) }, svgElement("rect", { width: "100%", height: "100%", fill: color(box.at), stroke: "#fff" }));
      if (box.wide > 24) cell.append(svgElement("text", { x: 4, y: 13 }, boxed(box)));
      all.append(cell);
    }
    return all;
  };
  const saveSvg = () => save(slug(report.file) + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(svgFile()));
  const savePng = () => {
    const canvas = make("canvas"), ratio = 2;
    canvas.width = chart.clientWidth * ratio;
    canvas.height = chart.clientHeight * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.font = "11px sans-serif";
    for (const box of drawn) {
      pen.fillStyle = color(box.at);
      pen.fillRect(box.x, box.y, box.wide, box.high);
      if (box.wide <= 24) continue;
      pen.save();
      pen.beginPath();
      pen.rect(box.x, box.y, box.wide, box.high);
      pen.clip();
      pen.fillStyle = "#111";
      pen.fillText(boxed(box), box.x + 4, box.y + 13);
      pen.restore();
    }
    canvas.toBlob((blob) => save(slug(report.file) + ".png", "image/png", blob));
  };
  const tabs = make("div", "tabs"), tools = make("div", "bar"), head = make("h2");
  const filters = make("div", "bar"), part = make("section", "", head, tools, filters, crumbs, chart, listing, legend, detail);
  head.id = "picture-title";
  part.setAttribute("aria-labelledby", head.id);
  host.append(part);
  const saving = make("span", "saving", button("SVG", saveSvg), button("PNG", savePng));
  const tab = (text, patch, isOn) => { const element = link(here(patch), isOn ? "on" : "", text); if (isOn) element.setAttribute("aria-current", "true"); return element; };
  // Filters of a profile. All numbers below are for the remaining part.
  const reroute = (patch) => { location.hash = here({ zoom: "", ...patch }); };
  // Threads by their names in tables: `P7;T0:7`.
  const threadLines = () => [...trees[0].outer].filter((at) => trees[0].depth[at] === 2).map((at) => [name(trees[0].name[trees[0].parent[at]]) + ";" + name(trees[0].name[at]), at]);
  const threadNames = () => (report.live && threadTable() ? threadTable().columns[0].values.map(name) : threadLines().map(([text]) => text));
  const isShown = (text) => threadLines().some(([of]) => of === text);
  const asked = (text) => {
    if (!text) return null;
    const pattern = new RegExp(text.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, "."), "i");
    return (at) => pattern.test(name(tree.name[at]));
  };
  const filterField = (title, key) => {
    const field = searchField(title, options[key], () => {});
    field.onchange = () => reroute({ [key]: field.value });
    return field;
  };
  const chooser = (title, key, choices) => {
    const select = make("select");
    select.setAttribute("aria-label", title);
    for (const [text, value] of choices) select.append(Object.assign(make("option", "", text), { value, selected: (options[key] || "") === value }));
    select.onchange = () => reroute({ [key]: select.value });
    return select;
  };
  const showFilters = () => {
    if (isHeap || tree.delta) return;
    const threads = threadNames(), commands = make("span");
    filters.replaceChildren(filterField("Only below", "focus"), filterField("Hide", "hide"), ...(threads.length > 1 ? [chooser("Thread", "only", [["All threads", ""], ...threads.map((text) => [text, text])])] : []), commands);
    if (report.live) metricsOf().then((metrics) => { if (metrics.length > 1) commands.replaceWith(chooser("Metric", "metric", metrics.map(({ name, isDefault }) => [name.replace(/_/g, " "), isDefault ? "" : name]))); }, () => {});
  };
  const narrow = () => {
    const thread = options.only && all === trees && tree === all[0] ? threadLines().find(([text]) => text === options.only) : null, [focus, hide] = [asked(options.focus), asked(options.hide)];
    const isOn = !isHeap && !tree.delta && (focus || hide || thread);
    if (isOn) tree = filtered(tree, { only: thread ? thread[1] : -1, focus, hide });
    isOfAll = Boolean(options.only) && !thread && all === trees;
    showFunctions(isOn || all !== trees ? tree : null, unit);
  };
  addEventListener("resize", () => draw());
  // Draws the picture for the current address.
  return async (given) => {
    options = given;
    [all, unit] = report.live && (given.metric || (given.only && !isShown(given.only))) ? await treesOf(given.metric, given.only) : [trees, report.unit];
    tree = all[+given.tree] || all[0];
    narrow();
    // A package has the same colour in every tree.
    packagesOf(all[0]);
    showFilters();
    as = ["treemap", "flame", "table"].includes(given.as) ? given.as : isHeap && !tree.delta ? "treemap" : "flame";
    top = focus = lineAt(given.zoom);
    query = (given.search || "").toLowerCase();
    if (document.activeElement !== search) search.value = given.search || "";
    head.textContent = tree.title;
    const ways = ["treemap", "flame", "table"].map((way) => tab(way[0].toUpperCase() + way.slice(1), { as: way }, way === as));
    const others = all.length > 1 ? all.map((of, at) => tab(of.title, { tree: at || "", zoom: "" }, at === (+given.tree || 0))) : [];
    const orders = !isHeap && as === "flame" ? [tab(tree.title === "In time" ? "As recorded" : "By name", { order: "" }, given.order !== "heavy"), tab("Left-heavy", { order: "heavy" }, given.order === "heavy")] : [];
    tabs.replaceChildren(...ways, ...(others.length ? [make("span", "gap"), ...others] : []), ...(orders.length ? [make("span", "gap"), ...orders] : []));
    tools.replaceChildren(tabs, search, matched, saving);
    saving.hidden = chart.hidden = detail.hidden = as === "table";
    listing.replaceChildren(...(as === "table" ? [unfolding([nodeOfLine(tree, top)], unit)] : []));
    const keys = [...packages].map(([key, color]) => { const box = make("span", "key"); box.style.background = color; return make("span", "", box, " " + shortened(key.split("/").slice(-2).join("/") || key, 40)); });
    legend.replaceChildren(...(tree.delta ? ["▲ red: grew · ▼ blue: shrank · the stronger the colour, the larger the part that changed"] : isHeap ? [] : ["Colours are packages: ", ...keys.flatMap((key) => [key, " "])]));
    if (isOfAll) legend.replaceChildren("This picture is of all threads. Of one thread: ", make("code", "", commandFor("report", "--thread", given.only)));
    if (given.metric && !report.live) legend.replaceChildren("This page has one metric. For another one: ", make("code", "", commandFor("report", "--metric", given.metric)));
    draw();
    if (as !== "table") tell(top);
  };
};

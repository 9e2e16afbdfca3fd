
"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  // Names come from a dump: they enter the page as text only, never as markup.
  const make = (tag, kind, ...children) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...children);
    return element;
  };
  const page = document.querySelector("main");

  const count = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const size = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let at = 0;
    while (bytes >= (at ? 1023.95 : 1024) && at < 5) { bytes /= 1024; at++; }
    return (at ? bytes.toFixed(1) : count(bytes)) + " " + units[at];
  };
  const time = (us) => (us >= 1e6 ? (us / 1e6).toFixed(1) + " s" : us >= 1e3 ? (us / 1e3).toFixed(1) + " ms" : us >= 1 || !us ? count(us) + " µs" : count(us * 1e3) + " ns");
  const times = { nanoseconds: 1e-3, ns: 1e-3, microseconds: 1, us: 1, milliseconds: 1e3, ms: 1e3, seconds: 1e6, s: 1e6 };
  const sizes = { bytes: 1, kilobytes: 2 ** 10, kB: 2 ** 10, megabytes: 2 ** 20, MB: 2 ** 20 };
  const shown = (number, unit) => {
    if (Object.hasOwn(times, unit)) return time(number * times[unit]);
    if (Object.hasOwn(sizes, unit)) return size(number * sizes[unit]);
    if (unit === "millionths") return String(number / 1e6);
    return count(number) + (unit === "number" || unit === "count" ? "" : " " + unit);
  };
  const amount = (number, unit = report.unit) => (number < 0 ? "-" : "") + shown(Math.abs(number), unit);
  const signed = (number, unit) => (number > 0 ? "+" : "") + amount(number, unit);
  const percent = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(1) + " %";
  const name = (at) => report.names[at];
  // Long names may go on in the next line after a separator.
  const breakable = (text) => text.split(/(?<=[./:$_,(\[←])/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));
  // Each part is a section, which its heading names.
  const section = (title, ...content) => {
    const heading = make("h2", "", title), element = make("section", "", heading, ...content);
    heading.id = "part-" + document.querySelectorAll("section").length;
    element.setAttribute("aria-labelledby", heading.id);
    return element;
  };
  // A server shows more of what is clicked on.
  const link = (view, key, value, ...text) => {
    const element = make("a", "", ...text);
    element.href = "#" + view + "?" + new URLSearchParams({ [key]: value });
    return element;
  };

  // The first lines: file, warnings, tiles.
  document.title = report.file + " · dumptool";
  page.append(make("h1", "", report.old ? report.old + " → " + report.file : report.file), make("div", "dim", report.format));
  for (const warning of report.warnings) page.append(make("div", "warning", warning));
  const tiles = make("div", "tiles");
  for (const tile of report.tiles) tiles.append(make("div", "tile", make("b", "", tile.value), make("span", "dim", tile.label)));
  page.append(tiles);

  if (report.suspects.length) {
    const part = section("Suspects");
    page.append(part);
    report.suspects.forEach((suspect, at) => {
      const share = make("span", "share");
      share.style.width = Math.max(2, suspect.share * 160) + "px";
      const details = make("details", "suspect", make("summary", "", share, " ", make("b", "", amount(suspect.bytes) + " · " + (100 * suspect.share).toFixed(1) + " %"), " " + suspect.message));
      const path = make("ol", "path mono");
      suspect.path.forEach((step, depth) => {
        const line = make("li", "", (depth ? "└ " : "") + step);
        line.style.paddingLeft = Math.min(depth, 30) * 14 + "px";
        path.append(line);
      });
      details.append(path);
      details.open = at === 0;
      part.append(details);
    });
    // Paper cannot be unfolded.
    addEventListener("beforeprint", () => part.querySelectorAll("details").forEach((details) => { details.open = true; }));
  }

  // A tree comes as columns in depth-first order; parents and children are found again here.
  const grow = (columns) => {
    const parent = [], children = [], open = [];
    columns.depth.forEach((depth, at) => {
      parent.push(depth ? open[depth - 1] : -1);
      children.push([]);
      open[depth] = at;
      if (depth) children[parent[at]].push(at);
    });
    return { ...columns, parent, children };
  };
  const hash = (text) => {
    let hash = 2166136261;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
    return hash >>> 0;
  };
  let find = () => {};

  if (report.trees.length) {
    const ROW = 20;
    const trees = report.trees.map(grow);
    let tree = trees[0], top = 0, focus = 0, query = "";
    const part = section(tree.title), heading = part.firstChild, search = make("input"), matched = make("span", "dim"), crumbs = make("span", "crumbs mono");
    const chart = make("div", "chart"), detail = make("div", "detail"), bar = make("div", "bar", search, matched);
    Object.assign(search, { type: "search", placeholder: "Find a name", size: 28 });
    search.setAttribute("aria-label", "Find a name in the picture");
    Object.assign(chart, { tabIndex: 0 });
    chart.setAttribute("role", "application");
    chart.setAttribute("aria-label", "Picture of the tree. Arrow keys move, Enter zooms in, Escape zooms out. The same follows as a table.");
    detail.setAttribute("aria-live", "polite");
    const label = (at) => name(tree.name[at]);
    const space = (at) => (tree.namespace ? name(tree.namespace[at]) : "");
    const color = (at) => {
      if (tree.delta) {
        const share = Math.min(1, Math.abs(tree.delta[at]) / Math.max(1, tree.total[at]));
        return tree.delta[at] > 0 ? `hsl(5 85% ${92 - 34 * share}%)` : tree.delta[at] < 0 ? `hsl(215 85% ${92 - 34 * share}%)` : "#e3e6ea";
      }
      return at ? `hsl(${hash(space(at) || label(at)) % 360} 55% ${72 + hash(label(at)) % 11}%)` : "#d4d4d4";
    };
    // What fits into a box: a name with its count, the name, or the name without package, path and file.
    const short = (text) => text.replace(/ \([^()]*\)$/, "").replace(/^[^\s(]*\//, "").replace(/^(class )?([a-z_]\w*\.)+(?=[A-Z])/, "$1");
    const boxed = (at, wide) => {
      const sign = !tree.delta || !tree.delta[at] ? "" : tree.delta[at] > 0 ? "▲ " : "▼ ", plain = sign + label(at);
      const all = tree.count && tree.count[at] > 1 ? plain + " ×" + count(tree.count[at]) : plain;
      return [all, plain].find((text) => text.length * 6.4 + 6 <= wide) || sign + short(label(at));
    };
    const matches = (at) => !query || label(at).toLowerCase().includes(query) || space(at).toLowerCase().includes(query);

    // Boxes of at least two pixels are drawn: the one that is shown, what is above it, and all below it. What is narrower is
    // one grey box together. Places are shares of the width, so that paper may have another one.
    const draw = () => {
      const width = chart.clientWidth - 2, boxes = document.createDocumentFragment(), above = [];
      let rows = 0;
      for (let at = tree.parent[top]; at >= 0; at = tree.parent[at]) above.unshift(at);
      const put = (at, x, wide, row) => {
        const box = make("div", "box" + (matches(at) ? "" : " other") + (at === focus ? " focus" : ""));
        place(box, x, wide, row);
        box.style.background = color(at);
        if (wide > 24) box.textContent = boxed(at, wide);
        // Of the few letters of a narrow box, dots would take half.
        if (wide < 70) box.classList.add("narrow");
        box.dataset.at = at;
      };
      const place = (box, x, wide, row) => {
        Object.assign(box.style, { left: 100 * x / width + "%", top: row * ROW + "px", width: 100 * Math.max(1, wide - 1) / width + "%" });
        boxes.append(box);
        rows = Math.max(rows, row);
      };
      above.forEach((at, row) => put(at, 0, width, row));
      const scale = width / Math.max(1, tree.total[top]), open = [[top, 0]];
      while (open.length) {
        const [at, x] = open.pop();
        const row = above.length + tree.depth[at] - tree.depth[top];
        put(at, x, tree.total[at] * scale, row);
        let left = x, few = 0, from = x;
        const rest = () => {
          if (left - from >= 2) {
            const box = make("div", "rest", left - from > 70 ? count(few) + " smaller" : "");
            box.title = count(few) + " smaller; zoom in to see them";
            place(box, from, left - from, row + 1);
          }
          few = 0;
        };
        for (const child of tree.children[at]) {
          const wide = tree.total[child] * scale;
          if (wide >= 2) {
            rest();
            open.push([child, left]);
          } else few++;
          left += wide;
          if (wide >= 2) from = left;
        }
        rest();
      }
      chart.style.height = (rows + 1) * ROW + 2 + "px";
      chart.replaceChildren(boxes);
      matched.textContent = query ? percent(found(), tree.total[0]) + " match" : "";
      crumbs.replaceChildren();
      for (const at of [...above, top]) {
        const button = make("button", "", label(at));
        button.onclick = () => { zoom(at); chart.focus({ preventScroll: true }); };
        crumbs.append(at === 0 ? "" : " › ", button);
      }
    };
    // Matches below a match count once.
    const found = () => {
      let sum = 0;
      const open = [0];
      while (open.length) {
        const at = open.pop();
        if (matches(at)) sum += tree.total[at];
        else open.push(...tree.children[at]);
      }
      return sum;
    };
    const words = (at) => {
      const [all, own] = report.kind === "heap" ? ["retained", "shallow"] : ["total", "self"];
      let text = `${amount(tree.now ? tree.now[at] : tree.total[at])} ${all} (${percent(tree.total[at], tree.total[0])})`;
      text += tree.now ? `, was ${amount(tree.now[at] - tree.delta[at])}` : `, ${amount(tree.own[at])} ${own}`;
      if (tree.count) text += " · " + count(tree.count[at]) + (tree.count[at] === 1 ? " object" : " objects");
      return text;
    };
    const tell = (at) => {
      const first = make("div", "", make("b", "mono", label(at)), " ", make("span", "dim", space(at)));
      const second = make("div", "", words(at));
      if (tree.delta) second.append(" ", make("b", tree.delta[at] > 0 ? "up" : "down", signed(tree.delta[at])));
      detail.replaceChildren(first, second);
      const object = tree.object ? name(tree.object[at]) : "";
      if (object) {
        const command = "dumptool path " + report.quoted + " " + object + report.options, copy = make("button", "", "Copy");
        copy.onclick = () => navigator.clipboard && navigator.clipboard.writeText(command);
        if (report.live) detail.append(make("div", "", link("show", "object", object, "Open this object")));
        detail.append(make("div", "", make("code", "", command), " ", copy));
      }
    };
    const zoom = (at) => { top = focus = at; draw(); tell(at); };
    const move = (at) => { if (at === undefined || at < 0) return; focus = at; if (at < top) top = at; draw(); tell(at); };
    chart.onclick = (event) => { if (event.target.dataset.at) { zoom(+event.target.dataset.at); chart.focus({ preventScroll: true }); } };
    chart.onmouseover = (event) => {
      const { target } = event, at = +target.dataset.at;
      if (!target.dataset.at) return;
      target.title = label(at) + "\n" + words(at) + (tree.delta ? " " + signed(tree.delta[at]) : "");
      tell(at);
    };
    chart.onkeydown = (event) => {
      const siblings = focus ? tree.children[tree.parent[focus]] : [0], place = siblings.indexOf(focus);
      const keys = {
        ArrowUp: () => move(tree.parent[focus]), ArrowDown: () => move(tree.children[focus][0]),
        ArrowLeft: () => move(siblings[place - 1]), ArrowRight: () => move(siblings[place + 1]),
        Enter: () => zoom(focus), Escape: () => zoom(Math.max(0, tree.parent[top])),
      };
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    };
    search.oninput = () => { query = search.value.toLowerCase(); draw(); };
    find = (text) => {
      const look = (text) => { search.value = text; query = text.toLowerCase(); };
      look(text);
      // Of a process and its thread, the picture has a box each.
      if (!found()) look(text.split(";").at(-1));
      draw();
      heading.scrollIntoView();
    };
    const buttons = trees.length < 2 ? [] : trees.map((of) => {
      const button = make("button", "", of.title);
      button.onclick = () => { tree = of; top = focus = 0; pick(); draw(); tell(0); list(); };
      bar.append(button);
      return button;
    });
    const pick = () => {
      heading.textContent = tree.title;
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", trees[at] === tree));
    };
    const lines = make("div", "scroll"), text = make("details", "", make("summary", "", "The largest lines as a table"), lines);
    const list = () => {
      const body = make("tbody");
      const largest = tree.total.map((_, at) => at).sort((a, b) => tree.total[b] - tree.total[a] || a - b).slice(0, 200);
      for (const at of largest.sort((a, b) => a - b)) {
        body.append(make("tr", "", make("td", "number", amount(tree.total[at])), make("td", "number", percent(tree.total[at], tree.total[0])), make("td", "name mono", "\u2007".repeat(tree.depth[at]) + label(at))));
      }
      const head = make("tr", "", ...["Total", "Share", "Name"].map((title, at) => { const cell = make("th", at < 2 ? "number" : "", title); cell.scope = "col"; return cell; }));
      lines.replaceChildren(make("table", "", make("thead", "", head), body));
    };
    part.append(bar, crumbs, chart, detail, text);
    page.append(part);
    addEventListener("resize", draw);
    pick(); draw(); tell(0); list();
  }

  // Curves: from the first time to the last, and from zero to the largest number.
  for (const curve of report.curves || []) {
    const wide = 1000, high = 160, [start] = curve.points[0], [end] = curve.points.at(-1);
    const peak = curve.points.reduce((most, point) => (point[1] > most[1] ? point : most));
    const x = (at) => wide * (at - start) / Math.max(1, end - start), y = (number) => high - (high - 6) * number / Math.max(1, peak[1]);
    const draw = (tag, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.append(...children);
      return element;
    };
    const says = ([at, number]) => amount(number, curve.unit) + " at " + amount(at, curve.time);
    const line = curve.points.map(([at, number]) => x(at).toFixed(2) + "," + y(number).toFixed(2)).join(" ");
    const picture = draw("svg", { class: "curve", viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img" },
      draw("polygon", { points: `0,${high} ${line} ${wide},${high}` }), draw("polyline", { points: line }));
    const words = `Peak ${says(peak)}, last ${says(curve.points.at(-1))}`, under = make("span", "", words);
    picture.setAttribute("aria-label", words);
    picture.onmousemove = (event) => {
      const box = picture.getBoundingClientRect(), at = wide * (event.clientX - box.left) / box.width;
      under.textContent = says(curve.points.reduce((near, point) => (Math.abs(x(point[0]) - at) < Math.abs(x(near[0]) - at) ? point : near)));
    };
    picture.onmouseleave = () => { under.textContent = words; };
    page.append(section(curve.title, make("div", "dim", curve.note), picture, make("div", "ends dim", amount(start, curve.time), under, amount(end, curve.time))));
  }

  // Tables: a click on a heading sorts, a click on a row finds its name in the picture. Paper has the first rows.
  const MOST = 500, PRINTED = 40;
  const tables = make("div", "tables");
  page.append(tables);
  for (const table of report.tables) {
    const filter = make("input"), shown = make("span", "dim"), head = make("thead"), body = make("tbody"), scroll = make("div", "scroll", make("table", "", head, body));
    Object.assign(filter, { type: "search", placeholder: "Filter", size: 28 });
    filter.setAttribute("aria-label", "Filter " + table.title);
    const isText = (column) => column.kind === "name" || column.kind === "text";
    const columns = table.columns.filter((column, at) => !at || !isText(column) || column.values.some((of) => name(of)));
    const all = columns[0].values.map((_, row) => row);
    let sort = columns.indexOf(table.columns[table.sort]), down = true;
    const value = (column, row) => (column.kind === "name" ? name(column.values[row]) : column.values[row]);
    // Several numbers are drawn as bars of text from the smallest to the largest, and said one by one.
    const spark = (numbers, unit) => {
      const least = Math.min(...numbers), range = Math.max(...numbers) - least, [first, last] = [numbers[0], numbers[numbers.length - 1]];
      const bars = make("span", last > first ? "up" : last < first ? "down" : "", numbers.map((number) => "▁▂▃▄▅▆▇█"[range ? Math.ceil((number - least) * 7 / range) : 3]).join(""));
      bars.setAttribute("role", "img");
      bars.title = numbers.map((number) => amount(number, unit)).join(", ");
      bars.setAttribute("aria-label", bars.title);
      return bars;
    };
    const cell = (column, row) => {
      const it = value(column, row);
      if (it === null) return "-";
      if (Array.isArray(it)) return spark(it, column.kind);
      return isText(column) ? it : column.kind === "share" ? percent(it, 1) : column.delta ? signed(it, column.kind) : amount(it, column.kind);
    };
    // A narrow window has room for what matters most.
    const kindOf = (column) => (isText(column) ? "" : "number") + (["File", "State", "Example", "Share"].includes(column.title) ? " minor" : "");
    const fill = () => {
      const term = filter.value.toLowerCase();
      const rows = all.filter((row) => !term || columns.some((column) => isText(column) && String(value(column, row)).toLowerCase().includes(term)));
      const key = (row) => [value(columns[sort], row) ?? -Infinity].flat().at(-1);
      rows.sort((a, b) => { const [x, y] = [key(a), key(b)]; return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || a - b; });
      // Who sorts with the keyboard stays on the heading, which is a new one.
      const isHere = head.contains(document.activeElement);
      head.replaceChildren(make("tr", "", ...columns.map((column, at) => {
        const button = make("button", "", column.title + (at === sort ? (down ? " ▾" : " ▴") : "")), th = make("th", kindOf(column), button);
        th.scope = "col";
        th.setAttribute("aria-sort", at !== sort ? "none" : down ? "descending" : "ascending");
        button.onclick = () => { down = at === sort ? !down : !isText(column); sort = at; fill(); };
        return th;
      })));
      if (isHere) head.querySelectorAll("button")[sort].focus();
      body.replaceChildren(...rows.slice(0, MOST).map((row) => {
        const tr = make("tr", "", ...columns.map((column) => {
          const kind = report.live && report.kind === "heap" && column.kind === "name" ? { Types: "type", Example: "object" }[column.title === "Name" ? table.title : column.title] : "";
          const it = cell(column, row), parts = isText(column) ? breakable(it) : [it];
          const td = make("td", (isText(column) ? "name mono " : "") + kindOf(column), ...(kind ? [link(kind === "type" ? "find" : "show", kind, it, ...parts)] : parts));
          if (column.delta && column.values[row]) td.classList.add(column.values[row] > 0 ? "up" : "down");
          return td;
        }));
        if (table.finds !== null) {
          tr.className = "finds";
          tr.onclick = (event) => event.target.localName !== "a" && find(value(table.columns[table.finds], row));
        }
        return tr;
      }));
      scroll.classList.toggle("long", rows.length > PRINTED);
      shown.textContent = count(Math.min(MOST, rows.length)) + " of " + count(table.rows) + " shown";
    };
    filter.oninput = fill;
    const note = table.note ? [make("div", "dim", table.note)] : [];
    tables.append(section(table.title, ...note, make("div", "bar", filter, shown), scroll));
    fill();
  }

  const footer = make("footer", "dim");
  for (const note of report.notes) footer.append(make("div", "", note));
  page.append(footer);
})();


"use strict";
// The views of a served page: each has an address behind the #, so that back, forward and bookmarks work.
(() => {
  // Names come from a dump: they enter the page as text only, never as markup.
  const make = (tag, kind, ...children) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...children);
    return element;
  };
  const report = document.querySelector("main"), isHeap = JSON.parse(document.getElementById("data").textContent).kind === "heap";
  const count = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  const size = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let at = 0;
    for (bytes = Math.abs(bytes); bytes >= (at ? 1023.95 : 1024) && at < 5; at++) bytes /= 1024;
    return (at ? bytes.toFixed(1) : count(bytes)) + " " + units[at];
  };
  const address = (view, options) => "#" + view + "?" + new URLSearchParams(options);
  const link = (view, options, text) => {
    const element = make("a", "mono", text);
    element.href = address(view, options);
    return element;
  };
  const words = (key) => key.replace(/_bytes$/, "").replace(/_/g, " ");
  const isObject = (value) => value !== null && typeof value === "object" && "id" in value && "shallow_bytes" in value;
  const show = (object) => make("span", "", link("show", { object: object.id }, plain(object.type + " " + object.id)), " ", make("span", "dim", size(object.shallow_bytes) + (object.retained_bytes ? ", retains " + size(object.retained_bytes) : "")));
  // What would be invisible, or turn text around, is written as in a program.
  const plain = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
  const shortened = (text) => (text.length > 2000 ? text.slice(0, 2000) + "… (" + count(text.length) + " characters)" : text);
  const IDS = ["id", "example", "object"], BYTES = /(^|_)bytes$/;

  // A value of any document. Objects are links, lists of objects are tables.
  const cell = (key, value, unit) => {
    if (value === null || value === undefined || value === "") return "-";
    if (isObject(value)) return show(value);
    if (Array.isArray(value)) return value.length && typeof value[0] === "object" ? table(value, unit) : value.join(", ");
    if (typeof value === "object" && typeof value.kind === "string" && ("text" in value || "value" in value)) return cell("", value.text ?? value.value, unit);
    if (typeof value === "object") return facts(value, unit);
    if (typeof value === "number") return BYTES.test(key) || (unit && (key === "self" || key === "total")) ? size(value) : key === "share" ? (100 * value).toFixed(1) + " %" : count(value);
    if (isHeap && typeof value === "string" && IDS.includes(key)) return link("show", { object: value }, plain(value));
    return shortened(plain(String(value)));
  };
  const facts = (of, unit) => {
    const list = make("dl");
    for (const [key, value] of Object.entries(of)) list.append(make("dt", "dim", words(key)), make("dd", "", cell(key, value, unit)));
    return list;
  };
  const table = (rows, unit) => {
    const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => rows.some((row) => row[key] !== null && row[key] !== undefined && row[key] !== 0 && row[key] !== false));
    const isNumber = (key) => rows.some((row) => typeof row[key] === "number");
    const head = make("tr", "", ...keys.map((key) => { const th = make("th", isNumber(key) ? "number" : "", words(key)); th.scope = "col"; return th; }));
    const body = rows.map((row) => make("tr", "", ...keys.map((key) => {
      const td = make("td", isNumber(key) ? "number" : "name", key === "name" && rows.type && row.name ? link("find", { type: row.name }, plain(row.name)) : cell(key, row[key], unit));
      if (key === "name" && row.depth) td.style.paddingLeft = 10 + 14 * Math.min(row.depth, 30) + "px";
      return td;
    })));
    return make("div", "scroll", make("table", "", make("thead", "", head), make("tbody", "", ...body)));
  };
  // The kind of a root, unless its name says it: `system class: Main`.
  const root = ({ kind, label }) => {
    const says = label.toLowerCase().split(/\s+/).slice(0, 2).some((word) => word.replace(/:$/, "") === kind);
    return says ? [make("b", "", plain(label))] : [make("b", "", kind), " " + plain(label)];
  };
  const paths = (list) => list.map((path) => {
    const steps = make("ol", "path", make("li", "", ...root(path.root)));
    const cut = path.steps.length > 60;
    (cut ? [...path.steps.slice(0, 30), null, ...path.steps.slice(-30)] : path.steps).forEach((step, depth) => {
      const line = step ? make("li", "", "└ " + plain(step.label || "") + " ", show(step.object)) : make("li", "dim", `… ${count(path.steps.length - 60)} steps`);
      line.style.paddingLeft = Math.min(depth + 1, 20) * 14 + "px";
      steps.append(line);
    });
    return steps;
  });

  const ask = async (command, options) => {
    const response = await fetch("api/" + command + "?" + new URLSearchParams(options));
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  };
  const part = (title, ...content) => [make("h2", "", title), ...content];
  const omitted = (number) => (number ? [make("div", "dim", count(number) + " more are not shown")] : []);

  const views = {
    async show(options) {
      // The server computes these trees of large objects ahead.
      const [it, held, below] = await Promise.all([ask("show", options), ask("path", options), ask("tree", { ...options, depth: 6, limit: 60, "min-share": 0.001 })]);
      const { object } = it, left = it.omitted || {};
      const first = { shallow_bytes: object.shallow_bytes, retained_bytes: object.retained_bytes, external_bytes: it.external_bytes, reachable: it.reachable === null ? "not known" : it.reachable ? "yes" : "no", dominator: it.dominator, value: it.value, collection: it.collection };
      const known = Object.fromEntries(Object.entries(first).filter(([key, value]) => value !== null && value !== undefined && !(key === "external_bytes" && !value)));
      const lists = ["fields", "elements", "entries", "roots", "references", "referrers"];
      return [
        object.type + " " + object.id,
        make("div", "dim", object.namespace || ""), make("div", "", link("find", { type: object.type }, "All objects of this type")),
        facts(known),
        ...lists.filter((key) => it[key] && it[key].length).flatMap((key) => part(words(key)[0].toUpperCase() + key.slice(1), table(it[key]), ...omitted(left[key]))),
        ...(held.paths.length ? part("Why it is alive", ...paths(held.paths)) : []),
        ...(below.nodes.length > 1 ? part("What it retains", table(below.nodes.map(({ depth, name, object, count, total, share }) => ({ depth, name, object, count, retained_bytes: total, share })))) : []),
      ];
    },
    async find(options) {
      const it = await ask("find", { limit: 200, ...options });
      const rows = it.objects || it.rows;
      const all = isHeap ? `${count(it.total.count)} objects, ${size(it.total.shallow_bytes)} shallow` : "";
      return [Object.values(options).filter(Boolean).join(" ") || "Objects", make("div", "dim", all), rows.length ? table(rows) : make("p", "", "Nothing matches."), ...omitted(it.omitted && (it.omitted.count || it.omitted.rows))];
    },
    async top(options) {
      const it = await ask("top", { limit: 500, ...options });
      const rows = it.rows || it.suspects;
      rows.type = isHeap && it.by === "type";
      const by = make("div", "bar");
      for (const group of isHeap ? ["type", "namespace", "root", "size-class"] : ["function", "file", "line", "thread"]) by.append(link("top", { by: group }, "By " + group));
      return ["Top by " + it.by, by, rows.length ? table(rows, it.unit === "bytes") : make("p", "", "Nothing."), ...omitted(it.omitted && it.omitted.rows)];
    },
  };

  const view = make("main", "view"), search = make("input"), by = make("select");
  Object.assign(search, { type: "search", placeholder: isHeap ? "Type, text, size or id" : "Function", size: 28 });
  search.setAttribute("aria-label", "Search");
  by.setAttribute("aria-label", "Search by");
  for (const [value, text] of isHeap ? [["type", "type"], ["value", "text"], ["min-size", "size from"], ["object", "id"]] : [["type", "function"]]) by.append(Object.assign(make("option", "", text), { value }));
  const form = make("form", "bar", make("a", "", "Report"), link("top", { by: isHeap ? "type" : "function" }, isHeap ? "Types" : "Functions"), by, search, make("button", "", "Find"));
  form.firstChild.href = "#";
  form.onsubmit = (event) => {
    event.preventDefault();
    if (search.value) location.hash = address(by.value === "object" ? "show" : "find", { [by.value]: search.value });
  };
  document.body.prepend(make("nav", "", form));
  view.hidden = true;
  report.after(view);
  const title = document.title;

  let turn = 0;
  const go = async () => {
    const mine = ++turn, [name, query] = location.hash.slice(1).split(/\?(.*)/s);
    const chosen = Object.hasOwn(views, name) ? views[name] : null;
    if (!chosen) {
      report.hidden = false;
      view.hidden = true;
      document.title = title;
      dispatchEvent(new Event("resize"));
      return;
    }
    view.setAttribute("aria-busy", "true");
    let content;
    try {
      content = await chosen(Object.fromEntries(new URLSearchParams(query)));
    } catch (error) {
      content = ["Not shown", make("p", "warning", error.message)];
    }
    // Who clicked on meanwhile wants to see something else.
    if (mine !== turn) return;
    const [heading, ...rest] = content, h1 = make("h1", "", plain(heading));
    h1.tabIndex = -1;
    view.replaceChildren(h1, ...rest);
    view.removeAttribute("aria-busy");
    report.hidden = true;
    view.hidden = false;
    document.title = plain(heading) + " · " + title;
    scrollTo(0, 0);
    h1.focus();
  };
  addEventListener("hashchange", go);
  go();
})();

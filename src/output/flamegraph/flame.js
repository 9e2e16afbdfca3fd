
"use strict";
(() => {
  const svg = document.documentElement;
  const at = (id) => svg.getElementById(id);
  const frame = at("boxes"), status = at("status"), margin = 10, character = 7.2;
  const boxes = Array.from(frame.children, (g) => {
    const rect = g.querySelector("rect"), [name, numbers] = g.querySelector("title").textContent.split("\n");
    const number = (key) => parseFloat(rect.getAttribute(key));
    return { g, rect, name, numbers, text: g.querySelector("text"), x: number("x"), width: number("width"), y: number("y") };
  });
  if (!boxes.length) return;
  const base = boxes[0], end = (box) => box.x + box.width, slack = 0.0002;
  const upright = boxes.some((box) => box.y < base.y);
  const inside = (box, other) => box.x >= other.x - slack && end(box) <= end(other) + slack;
  const below = (box, other) => (upright ? box.y > other.y : box.y < other.y);
  let shown = base, focus = null;

  // Fits all boxes to the window: the one that is shown, and its callers, take all of the width.
  const layout = () => {
    const pixels = svg.clientWidth - 2 * margin;
    for (const box of boxes) {
      const caller = below(box, shown) && inside(shown, box);
      const visible = caller || inside(box, shown) && !below(box, shown);
      box.g.classList.toggle("hidden", !visible);
      box.g.classList.toggle("outside", caller);
      if (!visible) continue;
      const x = caller ? 0 : (box.x - shown.x) / shown.width * 100;
      const width = caller ? 100 : box.width / shown.width * 100;
      box.rect.setAttribute("x", x + "%");
      box.rect.setAttribute("width", width + "%");
      label(box, x, Math.floor((width / 100 * pixels - 6) / character));
    }
    at("reset").classList.toggle("hidden", shown === base);
  };
  const label = (box, x, room) => {
    const text = box.name.length <= room ? box.name : room < 3 ? "" : box.name.slice(0, room - 1) + "…";
    if (!text && !box.text) return;
    if (!box.text) {
      box.text = document.createElementNS(svg.namespaceURI, "text");
      box.text.setAttribute("dx", 3);
      box.text.setAttribute("y", box.y + 12);
      box.g.append(box.text);
    }
    box.text.setAttribute("x", x + "%");
    box.text.textContent = text;
  };
  const fit = () => {
    svg.removeAttribute("viewBox");
    svg.setAttribute("width", "100%");
    frame.setAttribute("width", Math.max(svg.clientWidth - 2 * margin, 100));
    at("search").setAttribute("x", svg.clientWidth - margin);
    at("matched").setAttribute("x", svg.clientWidth - margin);
    layout();
  };
  const zoom = (box) => { shown = box; layout(); tell(box); };
  const tell = (box) => { status.textContent = box ? box.name + "  " + box.numbers : ""; };
  const select = (box) => {
    if (!box) return;
    if (focus) focus.g.classList.remove("focus");
    focus = box;
    box.g.classList.add("focus");
    tell(box);
  };

  // What matches is counted once, however often it comes on top of itself.
  const search = (term) => {
    let found = [], pattern = null;
    if (term) {
      try { pattern = new RegExp(term, "i"); } catch { pattern = { test: (name) => name.includes(term) }; }
    }
    for (const box of boxes) {
      const hit = pattern !== null && pattern.test(box.name);
      box.g.classList.toggle("found", hit);
      if (hit && !found.some((other) => inside(box, other))) found.push(box);
    }
    const share = found.reduce((sum, box) => sum + box.width, 0);
    at("matched").textContent = pattern ? "matched " + share.toFixed(1) + " %" : "";
  };
  const ask = () => { const term = prompt("Search for a name or a regular expression"); if (term !== null) search(term); };

  const boxOf = (event) => { const g = event.target.closest("#boxes g"); return boxes.find((box) => box.g === g); };
  frame.addEventListener("click", (event) => { const box = boxOf(event); if (box) zoom(box); });
  frame.addEventListener("mouseover", (event) => tell(boxOf(event)));
  at("reset").addEventListener("click", () => zoom(base));
  at("search").addEventListener("click", ask);
  at("search").classList.remove("hidden");
  addEventListener("resize", fit);
  addEventListener("keydown", (event) => {
    const from = focus || shown, row = (sign) => boxes.filter((box) => (box.y - from.y) * sign > 0);
    const keys = {
      Escape: () => { search(""); zoom(base); },
      Enter: () => zoom(from),
      "/": ask,
      ArrowUp: () => select(nearest(row(-1))),
      ArrowDown: () => select(nearest(row(1))),
      ArrowLeft: () => select(boxes.filter((box) => box.y === from.y && end(box) <= from.x + slack).at(-1)),
      ArrowRight: () => select(boxes.find((box) => box.y === from.y && box.x >= end(from) - slack)),
    };
    const nearest = (some) => {
      const related = some.filter((box) => inside(box, from) || inside(from, box));
      related.sort((a, b) => Math.abs(a.y - from.y) - Math.abs(b.y - from.y) || b.width - a.width);
      return related[0];
    };
    const act = keys[event.ctrlKey && event.key === "f" ? "/" : event.key];
    if (act) { event.preventDefault(); act(); }
  });
  fit();
})();

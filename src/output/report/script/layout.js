// Computes the positions of boxes without using the page, so a test can run this in Node.js.

// A tree is stored as columns in depth-first order. Finds the parent and the children of each line.
const grow = (columns) => {
  const parent = [], children = [], open = [];
  columns.depth.forEach((depth, at) => {
    parent.push(depth ? open[depth - 1] : -1);
    children.push([]);
    open[depth] = at;
    if (depth) children[parent[at]].push(at);
  });
  return { ...columns, parent, children, outer: new Set(columns.outer) };
};

// Groups neighbours with the same text.
const runsOf = (all, text) => {
  const runs = [];
  for (const one of all) {
    if (runs.length && text(runs.at(-1)[0]) === text(one)) runs.at(-1).push(one);
    else runs.push([one]);
  }
  return runs;
};

// The ancestors of a line, outermost first.
const above = (tree, at) => {
  const lines = [];
  for (at = tree.parent[at]; at >= 0; at = tree.parent[at]) lines.unshift(at);
  return lines;
};

// Rows of boxes of at least two pixels: the ancestors of the shown line, the line itself and its descendants. Narrower neighbours
// share one box with their number and sum.
const flameBoxes = (tree, top, width, ordered = false) => {
  const boxes = [], over = above(tree, top);
  over.forEach((at, row) => boxes.push({ at, row, x: 0, wide: width }));
  const scale = width / Math.max(1, tree.total[top]), open = [[top, 0]];
  while (open.length) {
    const [at, x] = open.pop(), row = over.length + tree.depth[at] - tree.depth[top];
    boxes.push({ at, row, x, wide: tree.total[at] * scale });
    let left = x, few = 0, sum = 0;
    const children = ordered ? [...tree.children[at]].sort((a, b) => tree.total[b] - tree.total[a] || a - b) : tree.children[at];
    const rest = () => {
      if (sum * scale >= 2) boxes.push({ at: -1, of: at, few, sum, row: row + 1, x: left - sum * scale, wide: sum * scale });
      few = sum = 0;
    };
    for (const child of children) {
      const wide = tree.total[child] * scale;
      if (wide >= 2) {
        rest();
        open.push([child, left]);
      } else {
        few++;
        sum += tree.total[child];
      }
      left += wide;
    }
    rest();
  }
  return boxes;
};

// Places values, largest first, in a rectangle so that each is as square as can be (Bruls, Huizing and van Wijk).
const squarify = (values, x, y, wide, high) => {
  const places = [], sum = values.reduce((sum, value) => sum + value, 0);
  let scale = sum > 0 ? wide * high / sum : 0, at = 0;
  const worst = (row, rowSum, side) => {
    const area = rowSum * scale, least = row[row.length - 1] * scale, most = row[0] * scale;
    return Math.max(side * side * most / (area * area), area * area / (side * side * least));
  };
  while (at < values.length && wide > 0 && high > 0) {
    const side = Math.min(wide, high), row = [values[at]];
    let rowSum = values[at];
    while (at + row.length < values.length) {
      const next = values[at + row.length];
      if (worst([...row, next], rowSum + next, side) > worst(row, rowSum, side)) break;
      row.push(next);
      rowSum += next;
    }
    const thick = rowSum * scale / side, isColumn = wide >= high;
    let along = 0;
    for (const value of row) {
      const length = value * scale / (thick || 1);
      places.push(isColumn ? { x, y: y + along, wide: thick, high: length } : { x: x + along, y, wide: length, high: thick });
      along += length;
    }
    if (isColumn) { x += thick; wide -= thick; } else { y += thick; high -= thick; }
    at += row.length;
  }
  return places;
};

// Nested boxes: the children of the shown line, and their children where a heading fits. Children that are too small
// share one box with the part of the line that is in no child.
const treemapBoxes = (tree, top, wide, high, levels = 6) => {
  const HEAD = 18, boxes = [], open = [{ at: top, x: 0, y: 0, wide, high, level: 0 }];
  while (open.length) {
    const box = open.pop();
    if (box.level > 0) boxes.push(box);
    if (box.at < 0 || box.level >= levels || (box.level > 0 && (box.wide < 60 || box.high < 44))) continue;
    const inner = box.level ? { x: box.x + 3, y: box.y + HEAD, wide: box.wide - 6, high: box.high - HEAD - 3 } : box;
    const whole = Math.max(1, tree.total[box.at]), least = whole * 90 / Math.max(1, inner.wide * inner.high);
    const parts = [];
    let few = 0, sum = 0, left = tree.total[box.at];
    for (const child of tree.children[box.at]) {
      left -= tree.total[child];
      if (tree.total[child] > least) parts.push({ at: child, sum: tree.total[child] });
      else { few++; sum += tree.total[child]; }
    }
    if (!parts.length) continue;
    if (sum + left > least) parts.push({ at: -1, of: box.at, few, sum: sum + left });
    parts.sort((a, b) => b.sum - a.sum || a.at - b.at);
    squarify(parts.map((part) => part.sum), inner.x, inner.y, inner.wide, inner.high).forEach((place, i) => open.push({ ...parts[i], ...place, level: box.level + 1 }));
  }
  return boxes;
};

// Merges all lines of a function into two trees: its callers and its callees.
const sandwich = (tree, name) => {
  const empty = () => ({ total: 0, below: new Map() });
  const callers = empty(), callees = empty(), inside = new Set();
  let own = 0;
  const add = (node, key, total) => {
    if (!node.below.has(key)) node.below.set(key, empty());
    const child = node.below.get(key);
    child.total += total;
    return child;
  };
  tree.name.forEach((of, at) => {
    if (of !== name || tree.outer.has(at)) return;
    own += tree.own[at];
    // A recursive call is a part of the outer one.
    for (let up = tree.parent[at]; up >= 0; up = tree.parent[up]) if (inside.has(up)) return;
    inside.add(at);
    callers.total += tree.total[at];
    callees.total += tree.total[at];
    let node = callers;
    for (let up = tree.parent[at]; up > 0 && !tree.outer.has(up); up = tree.parent[up]) node = add(node, tree.name[up], tree.total[at]);
    const open = tree.children[at].map((child) => [callees, child]);
    while (open.length) {
      const [into, child] = open.pop(), next = add(into, tree.name[child], tree.total[child]);
      for (const below of tree.children[child]) open.push([next, below]);
    }
  });
  return { own, callers, callees };
};

// A part of a tree with new sums: the lines below one line and below functions that match `focus`. Functions that match `hide` are
// removed and their costs added to their callers. Threads are no functions.
const filtered = (tree, { only = -1, focus = null, hide = null }) => {
  const node = (name) => ({ name, own: 0, below: new Map(), isOuter: false }), root = node(tree.name[0]), target = [];
  const child = (of, name) => { if (!of.below.has(name)) of.below.set(name, node(name)); return of.below.get(name); };
  tree.name.forEach((name, at) => {
    const up = tree.parent[at], inside = up >= 0 ? target[up] : null;
    const isTop = only >= 0 ? at === only : at === 0;
    let mine = null;
    if (isTop && !focus) mine = root;
    else if (isTop) mine = { outside: true };
    else if (inside && inside.outside) mine = !tree.outer.has(at) && focus(at) ? child(root, name) : inside;
    else if (inside) mine = hide && !tree.outer.has(at) && hide(at) ? inside : child(inside, name);
    if (mine && mine !== inside && tree.outer.has(at)) mine.isOuter = true;
    target.push(mine);
    if (mine && !mine.outside) mine.own += tree.own[at];
  });
  const columns = { ...tree, depth: [], name: [], total: [], own: [], parent: [], children: [], outer: new Set(), namespace: null, count: null, object: null };
  const open = [[root, 0]], last = [];
  while (open.length) {
    const [of, depth] = open.pop(), at = columns.name.length;
    columns.depth.push(depth);
    if (of.isOuter) columns.outer.add(at);
    columns.name.push(of.name);
    columns.own.push(of.own);
    columns.total.push(of.own);
    last[depth] = at;
    columns.parent.push(depth ? last[depth - 1] : -1);
    columns.children.push([]);
    if (depth) columns.children[last[depth - 1]].push(at);
    for (const below of [...of.below.values()].reverse()) open.push([below, depth + 1]);
  }
  for (let at = columns.name.length - 1; at > 0; at--) columns.total[columns.parent[at]] += columns.total[at];
  return columns;
};

// The functions of a tree with own and total sums. Recursive calls count once in the total.
const functionsOf = (tree) => {
  const sums = new Map();
  tree.name.forEach((name, at) => {
    if (!at || tree.outer.has(at)) return;
    if (!sums.has(name)) sums.set(name, { name, own: 0, total: 0 });
    const sum = sums.get(name);
    sum.own += tree.own[at];
    for (let up = tree.parent[at]; up >= 0; up = tree.parent[up]) if (tree.name[up] === name) return;
    sum.total += tree.total[at];
  });
  return [...sums.values()].sort((a, b) => b.own - a.own || b.total - a.total);
};

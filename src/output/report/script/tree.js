// The dominator tree from the server. The children of a line are requested when the line is expanded.
const askedNode = (node, below) => ({
  name: plain(node.own_name || node.name), label: node.label ? plain(node.label) : "", count: node.count, total: node.total, own: node.self, share: node.share,
  address: node.object ? objectAddress(node.object) : node.kind === "group" ? typeAddress(node.name) : "",
  load: node.object && (below.length === 0 ? node.total > node.self : true) ? async () => (await askBelow({ object: node.object })) : below.length ? async () => below : null,
});
// Makes expandable nodes of a list in depth-first order.
const nodesOf = (nodes) => {
  const open = [], first = [];
  for (const node of nodes) {
    const below = [], made = askedNode(node, below);
    if (node.depth > 0 && !node.object) made.load = async () => below;
    made.children = below;
    open[node.depth] = made;
    (node.depth ? open[node.depth - 1].children : first).push(made);
  }
  for (const node of open.concat(first)) if (node) settle(node);
  return first;
};
// Keeps the answers, so that each is requested once.
const settle = (first) => {
  const open = [first];
  while (open.length) {
    const node = open.pop();
    if (node.children.length) node.load = async () => node.children;
    else if (!node.address.startsWith("#/object/")) node.load = null;
    open.push(...node.children);
  }
};
const askBelow = async (options) => {
  const it = await ask("tree", { depth: 2, limit: 200, "min-share": 0, ...options });
  return nodesOf(it.nodes)[0]?.children || [];
};
const treeView = async (route) => {
  const { object, root, limit } = route.options, title = isHeap ? "Dominator tree" : "Call tree";
  if (root) {
    // Roots link to their line in the page's tree, unless they are too small to have one.
    const at = trees[0].name.findIndex((of, line) => trees[0].depth[line] < 3 && name(of) === root);
    const commands = report.live ? [] : [elsewhere(commandFor("tree"))];
    if (at < 0) return { title: plain(root), content: [make("p", "", "The objects that it holds are too small for the tree of this page."), ...commands] };
    const more = make("p", "more", link(addressOf("", "", { zoom: at }), "go", "Show in the picture"));
    return { title: plain(root), content: [more, unfolding([nodeOfLine(trees[0], at)], report.unit), ...commands] };
  }
  if (!report.live) return { title, content: [unfolding([nodeOfLine(trees[0], 0)], report.unit), elsewhere(commandFor("tree"))] };
  const it = await ask("tree", { ...given(), depth: 6, limit: limit || 400, "min-share": "0.05%", ...(object ? { object } : {}) });
  return { title, content: [make("p", "dim", isHeap ? "Each object stands below the last object on every path to it, which is freed with it." : "Each function stands below its caller."), unfolding(nodesOf(it.nodes.filter(isCall)), it.unit || report.unit)] };
};

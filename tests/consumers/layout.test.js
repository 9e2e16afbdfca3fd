// The parts of the page's script that need no page: layouts, addresses, texts. Run by `node --test`.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const folder = path.join(__dirname, '../../src/output/report/script');
const source = ['text.js', 'route.js', 'layout.js'].map((file) => fs.readFileSync(path.join(folder, file), 'utf8')).join('\n');
const names = ['grow', 'above', 'flameBoxes', 'squarify', 'treemapBoxes', 'sandwich', 'filtered', 'functionsOf', 'parseRoute', 'addressOf', 'valuesOf', 'pairsOf', 'meant', 'size', 'count', 'short', 'slug', 'packageOf', 'partsOf', 'csvRow', 'plain', 'amount', 'heading', 'between', 'runsOf'];
const part = new Function(`${source}; return { ${names.join(', ')} };`)();

const tree = part.grow({ depth: [0, 1, 2, 1, 1], name: [0, 1, 2, 3, 1], total: [100, 60, 25, 30, 1], own: [9, 35, 25, 30, 1] });
const area = (box) => box.wide * box.high;

test('parents and children are found again', () => {
  assert.deepEqual(tree.parent, [-1, 0, 1, 0, 0]);
  assert.deepEqual(tree.children, [[1, 3, 4], [2], [], [], []]);
  assert.deepEqual(part.above(tree, 2), [0, 1]);
});

test('boxes of a flame graph are as wide as their sums, and what is narrow is one box', () => {
  const boxes = part.flameBoxes(tree, 0, 150);
  const at = (line) => boxes.find((box) => box.at === line);
  assert.equal(at(1).wide, 90);
  assert.equal(at(2).wide, 37.5);
  assert.equal(at(3).x, 90);
  assert.equal(at(4), undefined);
  const narrow = part.flameBoxes(part.grow({ depth: [0, 1, 1, 1, 1], name: [0, 1, 2, 3, 4], total: [100, 94, 2, 2, 2], own: [0, 94, 2, 2, 2] }), 0, 80);
  const rest = narrow.filter((box) => box.at < 0);
  assert.deepEqual(rest.map(({ few, sum }) => ({ few, sum })), [{ few: 3, sum: 6 }]);
  assert.ok(Math.abs(rest[0].wide - 4.8) < 1e-9);
  const zoomed = part.flameBoxes(tree, 1, 100);
  assert.equal(zoomed.find((box) => box.at === 1).wide, 100);
  assert.equal(zoomed.find((box) => box.at === 0).row, 0);
});

test('a treemap has areas in proportion, inside of their parents', () => {
  const places = part.squarify([6, 6, 4, 3, 2, 2, 1], 0, 0, 600, 400);
  places.forEach((place, at) => assert.ok(Math.abs(area(place) - [6, 6, 4, 3, 2, 2, 1][at] * 10000) < 1));
  const shape = Math.max(...places.map((place) => Math.max(place.wide / place.high, place.high / place.wide)));
  assert.ok(shape < 3, `a box is ${shape} times as long as wide`);
  const boxes = part.treemapBoxes(tree, 0, 400, 300);
  const [outer, inner] = [1, 2].map((line) => boxes.find((box) => box.at === line));
  assert.ok(inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.wide <= outer.x + outer.wide && inner.y + inner.high <= outer.y + outer.high);
  const first = boxes.filter((box) => box.level === 1).reduce((sum, box) => sum + area(box), 0);
  assert.ok(Math.abs(first - 400 * 300) < 1);
  assert.deepEqual(part.squarify([], 0, 0, 10, 10), []);
  assert.deepEqual(part.treemapBoxes(part.grow({ depth: [0], name: [0], total: [0], own: [0] }), 0, 100, 100), []);
});

test('a function is merged over all its calls, and a recursive call counts once', () => {
  const calls = part.grow({ depth: [0, 1, 2, 3, 4, 2], name: [0, 1, 2, 1, 3, 3], total: [10, 10, 7, 6, 5, 3], own: [0, 0, 1, 1, 5, 3] });
  const { callers, callees, own } = part.sandwich(calls, 1);
  assert.equal(callers.total, 10);
  assert.equal(callees.below.get(2).total, 7);
  assert.equal(callers.below.size, 0);
  assert.equal(own, 1);
  assert.equal(part.sandwich(calls, 3).callers.below.get(1).total, 8);
});

test('filters change all numbers', () => {
  const calls = part.grow({ depth: [0, 1, 2, 3, 2, 1], name: [0, 1, 2, 3, 3, 2], total: [20, 15, 8, 5, 4, 5], own: [0, 3, 3, 5, 4, 5] });
  const columns = ({ depth, name, total, own }) => ({ depth, name, total, own });
  const named = (...names) => (at) => names.includes(calls.name[at]);
  assert.deepEqual(columns(part.filtered(calls, {})), columns(calls));
  assert.deepEqual(columns(part.filtered(calls, { only: 1 })), { depth: [0, 1, 2, 1], name: [0, 2, 3, 3], total: [15, 8, 5, 4], own: [3, 3, 5, 4] });
  assert.deepEqual(columns(part.filtered(calls, { focus: named(2) })), { depth: [0, 1, 2], name: [0, 2, 3], total: [13, 13, 5], own: [0, 8, 5] });
  assert.deepEqual(columns(part.filtered(calls, { hide: named(2) })), { depth: [0, 1, 2], name: [0, 1, 3], total: [20, 15, 9], own: [5, 6, 9] });
  assert.deepEqual(part.functionsOf(calls), [{ name: 3, own: 9, total: 9 }, { name: 2, own: 8, total: 13 }, { name: 1, own: 3, total: 15 }]);
  const threads = part.grow({ depth: [0, 1, 2, 3], name: [0, 5, 6, 1], total: [9, 9, 9, 9], own: [0, 0, 0, 9], outer: [1, 2] });
  for (const tree of [threads, part.filtered(threads, {}), part.filtered(threads, { hide: () => false }), part.filtered(threads, { only: 1 })]) assert.deepEqual(part.functionsOf(tree), [{ name: 1, own: 9, total: 9 }]);
  assert.deepEqual(part.filtered(threads, { focus: () => true }).name, [0, 1]);
  assert.deepEqual(part.filtered(threads, { hide: (at) => at < 3 }).name, [0, 5, 6, 1]);
  assert.equal(part.sandwich(threads, 1).callers.below.size, 0);
  const recursive = part.grow({ depth: [0, 1, 2], name: [0, 1, 1], total: [5, 5, 2], own: [0, 3, 2] });
  assert.deepEqual(part.functionsOf(recursive), [{ name: 1, own: 5, total: 5 }]);
});

test('an address says all of a view, whatever the names are', () => {
  for (const [view, id, options] of [['', '', {}], ['object', '#7', {}], ['object', '0xa41a1780', {}], ['objects', '', { type: 'a.b$c<"&?#/=%>', sort: 'retained' }], ['table', 'threads', { filter: 'ü ✓' }]]) {
    assert.deepEqual(part.parseRoute(part.addressOf(view, id, options)), { view, id, options });
  }
  assert.deepEqual(part.parseRoute(''), { view: '', id: '', options: {} });
  assert.deepEqual(part.parseRoute('#/object/%zz').id, '%zz');
  assert.equal(part.addressOf('table', 'waste', { filter: '' }), '#/table/waste');
});

// Of several labels, only the last one reached the server.
test('options that are given several times are requested as often', () => {
  const given = part.valuesOf([['where', 'request=17'], ['metric', 'cpu'], ['where', 'user=a']]);
  const query = new URLSearchParams(part.pairsOf({ ...given, metric: 'wall', limit: 5 }));
  assert.equal(String(query), 'where=request%3D17&where=user%3Da&metric=wall&limit=5');
});

test('neighbours that say the same are together', () => {
  assert.deepEqual(part.runsOf(['a', 'a', 'b', 'a'], (it) => it), [['a', 'a'], ['b'], ['a']]);
  assert.deepEqual(part.runsOf([], String), []);
});

test('a search knows addresses, patterns, texts and parts of names', () => {
  assert.deepEqual(part.meant('0xa4'), { object: '0xa4' });
  assert.deepEqual(part.meant('GenHeap'), { type: '*GenHeap*' });
  assert.deepEqual(part.meant('java.*.Map'), { type: 'java.*.Map' });
  assert.deepEqual(part.meant('"hello"'), { value: 'hello' });
});

test('numbers and names are as people read them', () => {
  assert.equal(part.size(19470368), '18.6 MiB');
  assert.equal(part.amount(410000, 'microseconds'), '410.0 ms');
  assert.deepEqual([300, 9e5, 9e6, 2.592e8].map(part.between), ['0.3 s', '15.0 min', '2.5 h', '3.0 days']);
  assert.equal(part.short('java.util.zip.ZipFile$Source'), 'ZipFile$Source');
  assert.equal(part.slug('Threads by stack'), 'threads-by-stack');
  assert.equal(part.heading('retained_bytes'), 'Retained');
  assert.deepEqual(part.partsOf('get(int) (/x/site-packages/requests/api.py)'), ['get(int)', '/x/site-packages/requests/api.py']);
  // The cases of `packages_are_folders_namespaces_or_beginnings_of_names` in `captions.rs`.
  const cases = fs.readFileSync(path.join(folder, '../../flamegraph/captions.rs'), 'utf8').match(/\("[^"]*", "[^"]*", "[^"]*"\)/g);
  assert.ok(cases.length > 15);
  for (const [name, file, expected] of cases.map((text) => JSON.parse(`[${text.slice(1, -1)}]`))) assert.equal(part.packageOf(name, file), expected, name);
  assert.equal(part.csvRow(['a,b', 'c"d', 1, null]), '"a,b","c""d",1,\r\n');
  assert.equal(part.plain('a\u202eb'), 'a\\u{202e}b');
});

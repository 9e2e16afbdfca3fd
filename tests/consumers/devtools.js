// Opens heap snapshots with the parser of Chrome DevTools, which Chromium brings along, and compares what the Memory panel
// shows of each type with our tables. Arguments: pairs of SNAPSHOT and OBJECTS.jsonl.
'use strict';
const fs = require('fs');
const puppeteer = require('puppeteer');

const PANEL = 'devtools://devtools/bundled/js_app.html';
const TIMEOUT = 120_000;

// Runs in the page.
async function load(text) {
  // The module's name depends on the version: Chromium 148 has `heap_snapshot_model`.
  const model = (name) => import(new URL(`./models/${name}/${name}.js`, location.href).href);
  const { HeapSnapshotProxy, HeapSnapshotModel } = await model('heap_snapshot').catch(() => model('heap_snapshot_model'));
  const worker = new HeapSnapshotProxy.HeapSnapshotWorkerProxy(() => {});
  const snapshot = await new Promise((resolve, reject) => {
    const loader = worker.createLoader(1, resolve);
    loader.write(text).then(() => loader.close()).catch(reject);
  });
  const filter = new (HeapSnapshotModel.NodeFilter || HeapSnapshotModel.HeapSnapshotModel.NodeFilter)();
  const aggregates = Object.values(await snapshot.aggregatesWithFilter(filter));
  const types = aggregates.map(({ name, count, self, maxRet }) => ({ name, count, self, maxRet }));
  return { total: snapshot.totalSize, types };
}

// What DevTools shows: objects and bytes of each type, without objects that have no bytes, and what is retained by those that
// no object of their type dominates.
function expected(table) {
  const objects = fs.readFileSync(table, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  const children = new Map();
  const types = new Map();
  const namespaces = new Map();
  let total = 0;
  for (const object of objects) namespaces.set(object.type, (namespaces.get(object.type) || new Set()).add(object.namespace));
  for (const object of objects.filter((object) => object.reachable || object.synthetic)) {
    object.bytes = object.shallow_bytes + object.external_bytes;
    total += object.bytes;
    if (!children.has(object.dominator)) children.set(object.dominator, []);
    children.get(object.dominator).push(object);
    if (!types.has(object.type)) types.set(object.type, { count: 0, self: 0, maxRet: 0, kind: object.kind, above: 0 });
    const type = types.get(object.type);
    type.count += object.bytes > 0 ? 1 : 0;
    type.self += object.bytes;
  }
  const pending = (children.get(null) || []).map((object) => ({ object }));
  while (pending.length > 0) {
    const { object, leave } = pending.pop();
    const type = types.get(object.type);
    if (leave) {
      type.above -= 1;
      continue;
    }
    if (type.above === 0) type.maxRet += object.bytes > 0 ? object.retained_bytes : 0;
    type.above += 1;
    pending.push({ object, leave: true });
    for (const child of children.get(object.object) || []) pending.push({ object: child });
  }
  for (const [name, type] of types) {
    const ambiguous = namespaces.get(name).size > 1;
    if (['text', 'synthetic'].includes(type.kind) || type.self === 0 || ambiguous) types.delete(name);
  }
  return { total, types };
}

function differences(shown, { total, types }) {
  const wrong = [];
  if (shown.total !== total) wrong.push(`the total is ${total} here and ${shown.total} in DevTools`);
  let compared = 0;
  for (const row of shown.types) {
    const type = types.get(row.name);
    // DevTools names a few types by itself.
    if (!type) continue;
    compared += 1;
    for (const fact of ['count', 'self', 'maxRet']) {
      if (row[fact] !== type[fact]) wrong.push(`${row.name}: ${fact} is ${type[fact]} here and ${row[fact]} in DevTools`);
    }
  }
  if (compared * 2 < types.size) wrong.push(`DevTools shows only ${compared} of ${types.size} types`);
  return wrong;
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  let failed = false;
  for (let i = 2; i < process.argv.length; i += 2) {
    const [snapshot, table] = process.argv.slice(i, i + 2);
    const page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT);
    await page.goto(PANEL, { waitUntil: 'domcontentloaded' });
    const wrong = differences(await page.evaluate(load, fs.readFileSync(snapshot, 'utf8')), expected(table));
    await page.close();
    failed ||= wrong.length > 0;
    console.log(wrong.length > 0 ? `FAIL ${snapshot}:\n  ${wrong.slice(0, 10).join('\n  ')}` : `${snapshot}: DevTools agrees`);
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});

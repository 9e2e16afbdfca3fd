// Compares what memlab finds in heap snapshots with our tables of the same heaps: every object is there, with its size, what
// it retains and who dominates it. Arguments: pairs of SNAPSHOT and OBJECTS.jsonl.
'use strict';
const fs = require('fs');
const readline = require('readline');
const { config } = require('@memlab/core');
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

config.muteConsole = true;

const LARGEST = 0xffffffff;
const SHOWN = 10;

async function objectsOf(path) {
  const objects = [];
  for await (const line of readline.createInterface({ input: fs.createReadStream(path) })) objects.push(JSON.parse(line));
  return objects;
}

// Objects have odd ids; the others are the root and what stands for its parts.
const objectOf = (node) => (node && node.id % 2 === 1 ? (node.id - 1) / 2 : null);

async function compare(snapshot, table) {
  const objects = await objectsOf(table);
  const heap = await getFullHeapFromFile(snapshot);
  const wrong = [];
  const differ = (object, what, ours, theirs) => {
    if (ours !== theirs) wrong.push(`${object.id}: ${what} is ${ours} here and ${theirs} in memlab`);
  };
  // Where a size does not fit, sums cannot be equal.
  const exact = objects.every((object) => object.shallow_bytes + object.external_bytes <= LARGEST);
  const seen = new Set();
  let root = null;
  heap.nodes.forEach((node) => {
    if (root === null && node.type === 'synthetic' && node.name === '(GC roots)') root = node;
    const number = objectOf(node);
    if (number === null) return;
    seen.add(number);
    const object = objects[number];
    differ(object, 'the own size', Math.min(object.shallow_bytes + object.external_bytes, LARGEST), node.self_size);
    if (!object.reachable) return;
    if (exact) differ(object, 'what it retains', object.retained_bytes, node.retainedSize);
    differ(object, 'the dominator', object.dominator, objectOf(node.dominatorNode));
  });
  const live = objects.filter((object) => object.reachable);
  for (const object of live) if (!seen.has(object.object)) wrong.push(`${object.id} is missing`);
  const total = live.reduce((sum, object) => sum + object.shallow_bytes + object.external_bytes, 0);
  if (exact && root === null) wrong.push('there are no (GC roots)');
  if (exact && root !== null && root.retainedSize !== total) wrong.push(`the roots retain ${root.retainedSize} of ${total}`);
  return { wrong, live: live.length, seen: seen.size };
}

(async () => {
  let failed = false;
  for (let i = 2; i < process.argv.length; i += 2) {
    const [snapshot, table] = process.argv.slice(i, i + 2);
    const { wrong, live, seen } = await compare(snapshot, table);
    if (wrong.length > 0) {
      failed = true;
      console.log(`FAIL ${snapshot}: ${wrong.length} differences`);
      wrong.slice(0, SHOWN).forEach((line) => console.log(`  ${line}`));
    } else {
      console.log(`${snapshot}: memlab agrees on ${live} live objects of ${seen}`);
    }
  }
  process.exit(failed ? 1 : 0);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});

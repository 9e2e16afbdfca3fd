// Talks to `dumptool mcp` as assistants do, with the protocol's TypeScript SDK.
//
//   node mcp.mjs DUMPTOOL FOLDER

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import Ajv from "ajv";

const [dumptool, folder] = process.argv.slice(2);
const client = new Client({ name: "dumptool-tests", version: "1.0.0" });
const errors = [];
client.onerror = (error) => errors.push(error);
await client.connect(new StdioClientTransport({ command: dumptool, args: ["mcp", "--allow", folder] }));
assert.equal(client.getServerVersion().name, "dumptool");
assert.match(client.getInstructions(), /may be read: /);
await client.ping();

// Every schema is valid, and accepts what is sent below.
const { tools } = await client.listTools();
const ajv = new Ajv({ strict: true });
const schemas = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.inputSchema)]));

const printed = (words) => {
  const run = spawnSync(dumptool, [...words, "--format", "json", "-q"], { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.notEqual(run.stdout, "", run.stderr);
  return run.stdout;
};
const file = `${folder}/go/tiny_go127.heapdump.zst`;
const old = `${folder}/mvmheap/tiny-nqp.mvmheap`;
const profile = `${folder}/pprof/go127-cpu.pb.gz`;
const object = JSON.parse(printed(["find", file, "-n", "1"])).objects[0].id;
const calls = [
  ["info", { file: [file, profile] }, ["info", file, profile]],
  ["top", { file, by: "size-class", limit: 5 }, ["top", file, "--by", "size-class", "-n", "5"]],
  ["top", { file: profile, cum: true }, ["top", profile, "--cum"]],
  ["suspects", { file }, ["top", file, "--suspects"]],
  ["tree", { file, min_share: "5%" }, ["tree", file, "--min-share", "5%"]],
  ["path", { file, object }, ["path", file, object]],
  ["show", { file, object }, ["show", file, object]],
  ["find", { file, min_size: "1KiB" }, ["find", file, "--min-size", "1KiB"]],
  ["diff", { file: [old], snapshot: "0..3" }, ["diff", old, "--snapshot", "0..3"]],
  ["growth", { file: [old, old], limit: 2 }, ["growth", old, old, "-n", "2"]],
  ["query", { file: [file], sql: "select count(*) from objects" }, ["query", file, "select count(*) from objects"]],
  ["threads", { file }, ["threads", file]],
  ["waste", { file }, ["waste", file]],
  ["check", { file: [file], max: ["total.retained=1"] }, ["check", file, "--max", "total.retained=1"]],
];
for (const [name, given, words] of calls) {
  const args = { ...given, max_bytes: 1 << 25 };
  const validate = schemas.get(name);
  assert.ok(validate(args), `${name}: ${JSON.stringify(validate.errors)}`);
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
  assert.equal(result.content[0].text, printed(words), name);
}
// `convert` writes a file, and answers with no document of the command line.
const names = [...calls.map(([name]) => name), "convert"];
assert.deepEqual(new Set(names), new Set(tools.map((tool) => tool.name)));

for (const args of [{ file, nonsense: 1 }, { file, limit: 0 }, {}, { file, by: "color" }]) {
  assert.ok(!schemas.get("top")(args), JSON.stringify(args));
  assert.ok((await client.callTool({ name: "top", arguments: args })).isError);
}
const outside = await client.callTool({ name: "info", arguments: { file: [`${folder}/../Cargo.toml`] } });
assert.ok(outside.isError && /may not be read here/.test(outside.content[0].text));
const cut = await client.callTool({ name: "top", arguments: { file: old, limit: 10000, max_bytes: 4096 } });
assert.ok(cut.content[0].text.length <= 4096 && JSON.parse(cut.content[0].text).rows.length > 5);
assert.match(cut.content[1].text, /^cut: .* in rows$/);
await assert.rejects(client.callTool({ name: "nonsense", arguments: {} }), /unknown tool/);
await client.close();
assert.deepEqual(errors, []);
console.log(`the client of the Model Context Protocol agrees (${tools.length} tools, ${calls.length} documents)`);

// A program that leaks and computes, for the check of source maps.
import { AuditTrail, SessionCache, SessionRecord } from './cache.js';
declare const require: any, process: any, globalThis: any;

const cache = new SessionCache();
const trail = new AuditTrail();
globalThis.leaked = { cache, trail };

const sortNumbers = (count: number): number[] => {
  const numbers: number[] = [];
  for (let i = 0; i < count; i++) numbers.push((i * 7919) % 10007);
  return numbers.sort((left, right) => left - right);
};

class TextBuilder {
  private parts: string[] = [];
  appendLine(text: string) {
    this.parts.push(text.toUpperCase().split('').reverse().join(''));
  }
}

function serveRequests(requests: number): number {
  let sum = 0;
  for (let i = 0; i < requests; i++) {
    cache.put(new SessionRecord(i));
    trail.onRequest(i);
    sum += sortNumbers(4000).length;
    const text = new TextBuilder();
    for (let line = 0; line < 200; line++) text.appendLine('request ' + i + ' line ' + line);
  }
  return sum;
}

serveRequests(500);
require('v8').writeHeapSnapshot(process.argv[2]);

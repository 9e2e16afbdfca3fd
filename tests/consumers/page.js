// Opens reports in Chromium: no errors, no requests, and the numbers of `top`. Arguments: pairs of PAGE.html and TOP.json, the
// latter made by `top -n 1 --format json` of the same dump.
'use strict';
const fs = require('fs');
const path = require('path');
const puppeteer = require('puppeteer');

const fail = (page, message) => {
  throw new Error(`${page}: ${message}`);
};

async function check(browser, file, top) {
  const page = await browser.newPage();
  const requests = [], errors = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  const url = `file://${path.resolve(file)}`;
  await page.setViewport({ width: 1280, height: 1000 });
  await page.goto(url);
  const seen = await page.evaluate(() => {
    const report = JSON.parse(document.getElementById('data').textContent);
    const boxes = [...document.querySelectorAll('.chart .box')];
    const table = [...document.querySelectorAll('h2')].find((heading) => heading.textContent === report.tables[0].title);
    const first = table.parentElement.querySelector('.scroll').querySelector('tbody tr td');
    return { kind: report.kind, base: report.trees[0].total[0], names: report.names, boxes: boxes.length, first: first && first.textContent,
      widest: boxes[0].offsetWidth, chart: document.querySelector('.chart').clientWidth };
  });
  const expected = seen.kind === 'heap' ? top.total.shallow_bytes + top.total.external_bytes : top.total.value;
  if (seen.base !== expected) fail(file, `the base has ${seen.base}, top says ${expected}`);
  if (seen.boxes < 2 || seen.widest < seen.chart - 6) fail(file, `${seen.boxes} boxes, the base is ${seen.widest} of ${seen.chart} px wide`);
  if (seen.first !== top.rows[0].name) fail(file, `the first row is ${seen.first}, top says ${top.rows[0].name}`);

  // A search says the share of the topmost lines that match.
  const shares = await page.evaluate(() => {
    const report = JSON.parse(document.getElementById('data').textContent), tree = report.trees[0];
    const search = document.querySelector('input[type=search]');
    const matches = (column, at, text) => column && report.names[column[at]].toLowerCase().includes(text);
    return report.tables[0].columns[0].values.slice(0, 5).map((name) => {
      const text = report.names[name].toLowerCase();
      let sum = 0, inside = Infinity;
      tree.depth.forEach((depth, at) => {
        if (depth > inside) return;
        inside = Infinity;
        if (matches(tree.name, at, text) || matches(tree.namespace, at, text)) { sum += tree.total[at]; inside = depth; }
      });
      search.value = text;
      search.dispatchEvent(new Event('input'));
      const shown = document.querySelector('.bar .dim').textContent;
      search.value = '';
      search.dispatchEvent(new Event('input'));
      return { text, shown, expected: `${(100 * sum / tree.total[0]).toFixed(1)} % match` };
    });
  });
  for (const { text, shown, expected } of shares) if (text && shown !== expected) fail(file, `a search for ${text} says ${shown}, not ${expected}`);
  // Several numbers are drawn as text, with all of them for those who cannot see it.
  const series = await page.evaluate(() => {
    const report = JSON.parse(document.getElementById('data').textContent);
    const tables = report.tables.filter((table) => table.columns.some((column) => Array.isArray(column.values[0])));
    return tables.map((table) => {
      const rows = table.columns.find((column) => Array.isArray(column.values[0])).values;
      return { rows: rows.length, numbers: rows[0].length, bars: [...document.querySelectorAll('td [role=img]')].map((bars) => [bars.textContent, bars.getAttribute('aria-label')]) };
    });
  });
  for (const { rows, numbers, bars } of series) {
    const right = ([text, label]) => [...text].length === numbers && /^[▁▂▃▄▅▆▇█]+$/.test(text) && label.split(', ').length === numbers;
    if (bars.length !== rows || !bars.every(right)) fail(file, `${bars.length} of ${rows} rows have bars, such as ${bars[0]}`);
  }
  if (path.basename(file).includes('mvmheap') && series.length !== 1) fail(file, 'the snapshots of the file are not shown');

  // A click zooms in, Escape zooms out, a search says its share, at any width.
  for (const width of [400, 1280, 2500]) {
    await page.setViewport({ width, height: 1000 });
    const steps = await page.evaluate(async () => {
      // The page draws anew when it learns of its width.
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      dispatchEvent(new Event('resize'));
      const chart = document.querySelector('.chart'), at = () => chart.querySelectorAll('.box').length;
      const before = at();
      chart.querySelectorAll('.box')[1].click();
      const crumbs = document.querySelectorAll('.crumbs button').length;
      chart.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
      const search = document.querySelector('input[type=search]');
      search.value = chart.querySelector('.box').textContent.split(' ×')[0];
      search.dispatchEvent(new Event('input'));
      const share = document.querySelector('.bar .dim').textContent;
      search.value = '';
      search.dispatchEvent(new Event('input'));
      return { before, after: at(), crumbs, share, overflow: document.documentElement.scrollWidth > innerWidth };
    });
    if (steps.crumbs !== 2 || steps.after !== steps.before || steps.share !== '100.0 % match') fail(file, `zooming: ${JSON.stringify(steps)}`);
    if (steps.overflow) fail(file, `is wider than a window of ${width} px`);
  }
  if (requests.some((request) => request !== url)) fail(file, `asks for ${requests}`);
  if (errors.length > 0) fail(file, errors.join('; '));
  await page.close();
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const files = process.argv.slice(2);
  for (let at = 0; at < files.length; at += 2) {
    await check(browser, files[at], JSON.parse(fs.readFileSync(files[at + 1], 'utf8')));
    console.log(`${files[at]}: the numbers of top, no errors, no requests`);
  }
  await browser.close();
})().catch((error) => {
  console.error(`FAIL ${error.message}`);
  process.exit(1);
});

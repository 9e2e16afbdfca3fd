// Opens reports in Chromium: no errors, no requests, the numbers of `top`, an answer without scripts, links that lead somewhere, and
// nothing that axe objects to. Arguments: pairs of PAGE.html and TOP.json, the latter made by `top -n 1 --format json` of the same dump.
'use strict';
const fs = require('fs');
const path = require('path');
const puppeteer = require('puppeteer-core');

const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const fail = (page, message) => {
  throw new Error(`${page}: ${message}`);
};

// Where scripts are blocked, the answer stands in the HTML.
async function checkWithoutScripts(browser, file, top) {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(`file://${path.resolve(file)}`);
  const html = await page.content();
  const text = html.replace(/<(script|style)[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ');
  for (const wanted of ['<h1>', '<svg class="parts"', 'class="card"', '<tbody>']) if (!html.includes(wanted)) fail(file, `has no ${wanted} without scripts`);
  const rows = (html.split('<tbody>')[1].match(/<tr>/g) || []).length;
  if (rows < 1 || rows > 20) fail(file, `has ${rows} rows without scripts`);
  const name = top.rows[0].name.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  if (!text.includes(name)) fail(file, `does not name ${name} without scripts`);
  await page.close();
}

// The views of a page, each by its address: a heading, content, nothing too wide, nothing that axe objects to.
async function checkViews(page, file, url) {
  const addresses = await page.evaluate(() => [...new Set([...document.querySelectorAll('nav.top a, #answer .parts a, #answer .card a, #answer td a')].map((link) => link.getAttribute('href')))]);
  if (addresses.length < 5) fail(file, `has only ${addresses.length} links`);
  const kinds = new Map();
  for (const address of addresses) {
    const kind = address.split(/[?]|(?<=^#.object).*/)[0];
    if ((kinds.get(kind) || 0) < 2) kinds.set(kind, (kinds.get(kind) || 0) + 1); else continue;
    await page.goto('about:blank');
    await page.goto(url + address);
    await page.waitForFunction(() => !document.querySelector('[aria-busy]'));
    for (const width of [390, 1024]) {
      await page.setViewport({ width, height: 1000 });
      const seen = await page.evaluate(() => {
        const main = document.querySelector('main:not([hidden])');
        return { title: main.querySelector('h1').textContent, text: main.textContent.length, overflow: document.documentElement.scrollWidth > innerWidth };
      });
      if (seen.title === 'Not shown' || seen.text < 40) fail(file, `${address} shows nothing`);
      if (seen.overflow) fail(file, `${address} is wider than a window of ${width} px`);
    }
    const violations = await page.evaluate(async (axe) => {
      if (!window.axe) (0, eval)(axe);
      return (await window.axe.run()).violations.map((violation) => `${violation.id}: ${violation.nodes[0].html}`);
    }, AXE);
    if (violations.length > 0) fail(file, `${address}: ${violations.join('; ')}`);
  }
  return kinds.size;
}

// The parts of the bar of a profile lead to the functions that add up to them, and a thread to the calls of the thread.
async function checkParts(page, file, url) {
  const links = await page.evaluate(() => [...document.querySelectorAll('#answer .parts a[href*="package="], #answer .card a[href*="?only="]')].map((link) => [link.getAttribute('href'), link.textContent]));
  for (const [address, text] of links) {
    await page.goto('about:blank');
    await page.goto(url + address);
    await page.waitForFunction(() => !document.querySelector('[aria-busy]'));
    const { share, detail, legend } = await page.evaluate(() => {
      const report = JSON.parse(document.getElementById('data').textContent), [table] = report.tables;
      const values = (title) => table.columns.find((column) => column.title === title).values;
      const files = values('File').some((at) => report.names[at]) ? values('File') : null;
      const rows = new Set([...document.querySelectorAll('.view tbody tr')].map((row) => [...row.querySelectorAll('td.name')].map((cell) => cell.textContent).join('\n')));
      const isShown = (row) => rows.has([values('Name'), files].filter(Boolean).map((of) => report.names[of[row]]).join('\n'));
      const sum = values('Self').reduce((sum, own, row) => sum + (isShown(row) ? own : 0), 0);
      const text = (part) => document.querySelector(part).textContent.replace(/\s/g, ' ');
      return { share: (100 * sum / report.trees[0].total[0]).toFixed(1), detail: text('.detail'), legend: [...document.querySelectorAll('#picture .legend')].map((part) => part.textContent).join() };
    });
    const [, amount, wanted] = /([\d.,\s]+[^·]*) · ([\d.]+) %/.exec(text.replace(/^.*: (?=[\d])/, ''));
    if (address.includes('package=')) {
      if (share !== wanted) fail(file, `${address} has ${share} % and not ${wanted} %`);
    } else if (!legend.includes('This picture is of all threads') && !detail.includes(amount.replace(/\s/g, ' ').trim())) fail(file, `${address} shows ${detail} and not ${amount}`);
  }
  return links.length;
}

async function check(browser, file, top) {
  await checkWithoutScripts(browser, file, top);
  const page = await browser.newPage();
  // axe needs eval, which the page forbids itself.
  await page.setBypassCSP(true);
  const requests = [], errors = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  const url = `file://${path.resolve(file)}`;
  await page.setViewport({ width: 1280, height: 1000 });
  await page.goto(`${url}#/?as=flame`);
  const seen = await page.evaluate(() => {
    const report = JSON.parse(document.getElementById('data').textContent);
    const boxes = [...document.querySelectorAll('.chart .box')];
    const first = document.querySelector('#tables tbody tr td');
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
    const search = document.querySelector('#picture input[type=search]');
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
      const shown = document.querySelector('#picture .bar .dim').textContent;
      search.value = '';
      search.dispatchEvent(new Event('input'));
      return { text, shown, expected: `${(100 * sum / tree.total[0]).toFixed(1)} % match` };
    });
  });
  for (const { text, shown, expected } of shares) if (text && shown !== expected) fail(file, `a search for ${text} says ${shown}, not ${expected}`);
  // Several numbers are drawn as text, with all of them for those who cannot see it.
  const series = await page.evaluate(async () => {
    const report = JSON.parse(document.getElementById('data').textContent);
    const tables = report.tables.filter((table) => table.columns.some((column) => Array.isArray(column.values[0])));
    if (tables.length > 0) {
      location.hash = [...document.querySelectorAll('nav.top a')].find((link) => link.textContent === tables[0].title).hash;
      await new Promise((shown) => setTimeout(shown, 100));
      // All rows.
      for (let more; (more = [...document.querySelectorAll('.view .more button')][0]);) more.click();
    }
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

  await page.goto('about:blank');
  await page.goto(`${url}#/?as=flame`);
  // A click zooms in, Escape zooms out, a search says its share, at any width.
  for (const width of [400, 1280, 2500]) {
    await page.setViewport({ width, height: 1000 });
    const steps = await page.evaluate(async () => {
      // The page draws anew when it learns of its width.
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      dispatchEvent(new Event('resize'));
      const chart = document.querySelector('.chart'), at = () => chart.querySelectorAll('.box').length;
      const before = at();
      const routed = () => new Promise((shown) => setTimeout(shown, 50));
      chart.querySelectorAll('.box:not(.rest)')[1].click();
      await routed();
      const crumbs = document.querySelectorAll('.crumbs a').length;
      chart.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
      await routed();
      const search = document.querySelector('#picture input[type=search]');
      search.value = chart.querySelector('.box').textContent.split(' ×')[0];
      search.dispatchEvent(new Event('input'));
      const share = document.querySelector('#picture .bar .dim').textContent;
      search.value = '';
      search.dispatchEvent(new Event('input'));
      return { before, after: at(), crumbs, share, overflow: document.documentElement.scrollWidth > innerWidth };
    });
    if (steps.crumbs !== 2 || steps.after !== steps.before || steps.share !== '100.0 % match') fail(file, `zooming: ${JSON.stringify(steps)}`);
    if (steps.overflow) fail(file, `is wider than a window of ${width} px`);
  }
  const parts = seen.kind === 'profile' ? await checkParts(page, file, url) : 1;
  if (parts < 1) fail(file, 'has no links to its parts');
  // A saved page cannot run SQL, but names the command that does.
  await page.goto('about:blank');
  await page.goto(`${url}#/sql`);
  const query = await page.evaluate(() => document.querySelector('main:not([hidden])').textContent);
  if (!query.includes(seen.kind === 'heap' ? 'from objects' : 'from functions')) fail(file, `says about SQL: ${query}`);
  const kinds = await checkViews(page, file, url);
  if (kinds < 4) fail(file, `links only to ${kinds} views`);
  if (requests.some((request) => request.split('#')[0] !== url && request !== 'about:blank')) fail(file, `asks for ${requests}`);
  if (errors.length > 0) fail(file, errors.join('; '));
  // Paper has the answer on a few pages.
  await page.goto('about:blank');
  await page.goto(url);
  const paper = Buffer.from(await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g).length;
  if (paper > 4) fail(file, `has ${paper} pages of paper`);
  await page.close();
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const files = process.argv.slice(2);
  for (let at = 0; at < files.length; at += 2) {
    await check(browser, files[at], JSON.parse(fs.readFileSync(files[at + 1], 'utf8')));
    console.log(`${files[at]}: the numbers of top, an answer without scripts, views that open, no errors, no requests`);
  }
  await browser.close();
})().catch((error) => {
  console.error(`FAIL ${error.message}`);
  process.exit(1);
});

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
    const first = table.parentElement.querySelectorAll('.scroll')[1].querySelector('tbody tr td');
    return { kind: report.kind, base: report.trees[0].total[0], names: report.names, boxes: boxes.length, first: first && first.textContent,
      widest: boxes[0].offsetWidth, chart: document.querySelector('.chart').clientWidth };
  });
  const expected = seen.kind === 'heap' ? top.total.shallow_bytes + top.total.external_bytes : top.total.value;
  if (seen.base !== expected) fail(file, `the base has ${seen.base}, top says ${expected}`);
  if (seen.boxes < 2 || seen.widest < seen.chart - 6) fail(file, `${seen.boxes} boxes, the base is ${seen.widest} of ${seen.chart} px wide`);
  if (seen.first !== top.rows[0].name) fail(file, `the first row is ${seen.first}, top says ${top.rows[0].name}`);

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

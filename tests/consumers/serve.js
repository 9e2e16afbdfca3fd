// Opens what `serve` shows in Chromium: no errors, no requests elsewhere, objects open, back and forward work. Arguments: dumps.
// With SCREENSHOTS, pictures of each view at three widths are written to that folder.
'use strict';
const { spawn } = require('child_process');
const path = require('path');
const puppeteer = require('puppeteer-core');

const start = (file) => new Promise((resolve, reject) => {
  const server = spawn(process.env.DUMPTOOL_PROGRAM || 'target/release/dumptool', ['serve', '--no-open', '-q', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  server.stderr.on('data', (data) => {
    text += data;
    const url = /http:\S+/.exec(text);
    if (url) resolve([server, url[0]]);
  });
  server.on('exit', () => reject(new Error(`${file}: ${text}`)));
});

async function check(browser, file) {
  const [server, url] = await start(file);
  const fail = (message) => { throw new Error(`${file}: ${message}`); };
  const page = await browser.newPage();
  const requests = [], errors = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  await page.setViewport({ width: 1280, height: 1000 });
  const shown = async (title) => {
    await page.waitForFunction((title) => document.querySelector('main:not([hidden]):not([aria-busy]) h1')?.textContent.startsWith(title), { timeout: 20000 }, title);
    for (const width of [400, 1280, 2500]) {
      await page.setViewport({ width, height: 1000 });
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) fail(`${title} is wider than a window of ${width} px`);
      if (process.env.SCREENSHOTS) await page.screenshot({ path: path.join(process.env.SCREENSHOTS, `${path.basename(file)}-${title.replace(/\W+/g, '_').slice(0, 30)}-${width}.png`) });
    }
  };
  const click = (selector) => page.evaluate((selector) => {
    const link = document.querySelector(selector);
    if (!link) throw new Error(`there is no ${selector}`);
    link.click();
    return link.textContent;
  }, selector);
  await page.goto(url);
  const title = await page.evaluate(() => document.querySelector('h1').textContent);
  await shown(title);
  // The types, the objects of the first, one of them, and what holds it.
  await click('nav a[href^="#/table/types"]');
  await shown('Types');
  const top = await (await fetch(`${url}api/top?limit=1`)).json();
  const type = await click('main:not([hidden]) td a');
  if (type !== top.rows[0].name) fail(`the first type is ${type}, top says ${top.rows[0].name}`);
  await shown(type);
  const found = await (await fetch(`${url}api/find?limit=1&type=${encodeURIComponent(type)}`)).json();
  const object = await click('main:not([hidden]) td a[href^="#/object/"]');
  if (object !== found.objects[0].id) fail(`the first object is ${object}, find says ${found.objects[0].id}`);
  const isClass = found.objects[0].name && found.objects[0].name.startsWith('class ');
  const heading = `${isClass ? found.objects[0].name : found.objects[0].type} ${object}`;
  await shown(heading);
  const sections = await page.evaluate(() => [...document.querySelectorAll('main:not([hidden]) h2')].map((h2) => h2.textContent));
  if (sections[0] !== 'Who holds it') fail(`the object has first ${sections}`);
  await page.goBack();
  await shown(type);
  await page.goBack();
  await shown('Types');
  await page.goForward();
  await shown(type);
  // The merged paths, the tree that unfolds, and SQL.
  await click('main:not([hidden]) a[href^="#/paths"]');
  await shown('Who holds');
  await click('nav a[href="#/tree"]');
  await shown('Dominator tree');
  const lines = await page.evaluate(() => document.querySelectorAll('main:not([hidden]) table.tree tbody tr').length);
  if (lines < 2) fail(`the tree has ${lines} lines`);
  await page.goto('about:blank');
  await page.goto(`${url}#/sql?q=${encodeURIComponent('select count(*) as n from objects')}`);
  await shown('SQL');
  const rows = await page.evaluate(() => [...document.querySelectorAll('main:not([hidden]) tbody td')].map((cell) => cell.textContent));
  if (rows.length !== 1 || !/\d/.test(rows[0])) fail(`SQL shows ${rows}`);
  // The address of a view opens that view; `/` jumps to the search, which finds objects by id, and parts of names.
  await page.goto('about:blank');
  await page.goto(`${url}#/object/${encodeURIComponent(object)}`);
  await shown(heading);
  await page.keyboard.press('/');
  await page.keyboard.type(type.slice(0, 4));
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/objects'));
  await shown('');
  if (/^0x/.test(object)) {
    await page.keyboard.press('/');
    await page.keyboard.type(object);
    await page.keyboard.press('Enter');
    await shown(heading);
  }
  await page.evaluate(() => { location.hash = ''; });
  await shown(title);
  if (errors.length > 0) fail(errors.join('; '));
  const elsewhere = requests.filter((request) => !request.startsWith(url) && request !== 'about:blank' && !request.endsWith('/favicon.ico'));
  if (elsewhere.length > 0) fail(`asks for ${elsewhere}`);
  // A server that is gone leaves a page that says how to start it again.
  const ended = new Promise((resolve) => { server.removeAllListeners('exit'); server.on('exit', resolve); });
  server.kill('SIGINT');
  await ended;
  await page.evaluate(() => { location.hash = '#/objects'; });
  await page.waitForFunction(() => document.querySelector('main:not([hidden]) .command')?.textContent.includes('dumptool serve'), { timeout: 20000 });
  await page.close();
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  for (const file of process.argv.slice(2)) {
    await check(browser, file);
    console.log(`${file}: objects open, back and forward work, no errors, no requests elsewhere`);
  }
  await browser.close();
})().catch((error) => {
  console.error(`FAIL ${error.message}`);
  process.exit(1);
});

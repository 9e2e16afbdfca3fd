// Opens what `serve` shows in Chromium: no errors, no requests elsewhere, objects open, back and forward work. Arguments: dumps.
// With SCREENSHOTS, pictures of each view at three widths are written to that folder.
'use strict';
const { spawn } = require('child_process');
const path = require('path');
const puppeteer = require('puppeteer');

const start = (file) => new Promise((resolve, reject) => {
  const server = spawn('target/debug/dumptool', ['serve', '--no-open', '-q', file], { stdio: ['ignore', 'ignore', 'pipe'] });
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
  const name = path.basename(file);
  await shown(name);
  // The types, the objects of the first, one of them, and its first neighbour.
  await click('nav a[href^="#top"]');
  await shown('Top by type');
  const top = await (await fetch(`${url}api/top?limit=1`)).json();
  const type = await click('main:not([hidden]) td a');
  if (type !== top.rows[0].name) fail(`the first type is ${type}, top says ${top.rows[0].name}`);
  await shown(type);
  const found = await (await fetch(`${url}api/find?limit=1&type=${encodeURIComponent(type)}`)).json();
  const object = await click('main:not([hidden]) td a[href^="#show"]');
  if (object !== found.objects[0].id) fail(`the first object is ${object}, find says ${found.objects[0].id}`);
  await shown(`${found.objects[0].type} ${object}`);
  const sections = await page.evaluate(() => [...document.querySelectorAll('main:not([hidden]) h2')].map((h2) => h2.textContent));
  if (!sections.includes('Why it is alive')) fail(`the object has only ${sections}`);
  await page.goBack();
  await shown(type);
  await page.goBack();
  await shown('Top by type');
  await page.goForward();
  await shown(type);
  // The address of a view opens that view, and the search finds objects by id.
  const address = `${url}#show?object=${encodeURIComponent(object)}`;
  await page.goto('about:blank');
  await page.goto(address);
  await shown(`${found.objects[0].type} ${object}`);
  await page.evaluate((id) => {
    document.querySelector('nav select').value = 'object';
    document.querySelector('nav input').value = id;
    document.querySelector('nav button').click();
  }, object);
  await page.evaluate(() => { location.hash = ''; });
  await shown(name);
  if (errors.length > 0) fail(errors.join('; '));
  const elsewhere = requests.filter((request) => !request.startsWith(url) && request !== 'about:blank' && !request.endsWith('/favicon.ico'));
  if (elsewhere.length > 0) fail(`asks for ${elsewhere}`);
  await page.close();
  server.removeAllListeners('exit');
  server.kill('SIGINT');
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

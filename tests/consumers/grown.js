// Opens a page about two heaps from the disk in Chromium: a click on what grew leads to objects of which some are marked as new, and
// a click on one of these to its fields. Arguments: pages.
'use strict';
const path = require('path');
const puppeteer = require('puppeteer-core');

// Follows the first link that a selector finds, and returns what the page says then.
async function follow(page, selector) {
  const address = await page.$eval(selector, (link) => link.getAttribute('href'));
  await page.$eval(selector, (link) => link.click());
  await page.waitForFunction((address) => location.hash === address && !document.querySelector('[aria-busy]'), {}, address);
  return page.evaluate(() => {
    const main = document.querySelector('main:not([hidden])');
    return { title: main.querySelector('h1').textContent, marks: main.querySelectorAll('.new').length, headings: [...main.querySelectorAll('h2')].map((head) => head.textContent), cells: main.querySelectorAll('td').length };
  });
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  for (const file of process.argv.slice(2)) {
    const page = await browser.newPage();
    await page.goto(`file://${path.resolve(file)}`);
    const type = await follow(page, '#answer td a');
    if (type.marks === 0) throw new Error(`${file}: nothing is new among ${JSON.stringify(type)}`);
    const object = await follow(page, 'main:not([hidden]) td:has(.new) a');
    const contents = ['Fields', 'Entries', 'Elements', 'References'].filter((part) => object.headings.includes(part));
    if (object.marks === 0 || contents.length === 0 || object.cells === 0) throw new Error(`${file}: a new object has no fields: ${JSON.stringify(object)}`);
    console.log(`${file}: two clicks from what grew to the ${contents[0].toLowerCase()} of ${object.title}`);
    await page.close();
  }
  await browser.close();
})().catch((error) => {
  console.error(`FAIL ${error.message}`);
  process.exit(1);
});

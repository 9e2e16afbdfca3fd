// Opens profiles in the speedscope app itself, in Chromium, and prints what it says of each: the importer that took it, and
// the names and total weights of its profiles. Usage: node speedscope.js FOLDER_OF_NODE_MODULES FILE...
const [modules, ...files] = process.argv.slice(2);
const fs = require('fs');
const os = require('os');
const path = require('path');
const puppeteer = require(path.join(modules, 'puppeteer-core'));

(async () => {
  const app = path.join(modules, 'speedscope/dist/release/index.html');
  const args = ['--no-sandbox', '--allow-file-access-from-files', '--use-gl=swiftshader', '--enable-unsafe-swiftshader'];
  const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium', headless: true, args });
  for (const file of files) {
    const page = await browser.newPage();
    const said = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push('error: ' + error));
    page.on('dialog', (dialog) => { said.push('error: ' + dialog.message()); dialog.dismiss(); });
    const script = path.join(os.tmpdir(), `speedscope-${process.pid}.js`);
    const data = fs.readFileSync(file).toString('base64');
    fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))},${JSON.stringify(data)})`);
    await page.goto('file://' + app + '#localProfilePath=' + script, { waitUntil: 'load' });
    const opened = () => document.title !== 'speedscope' && document.title !== '';
    await page.waitForFunction(opened, { timeout: 20000 }).catch(() => said.push('error: nothing was opened'));
    fs.unlinkSync(script);
    const text = (await page.evaluate(() => document.body.innerText)).replace(/\s+/g, ' ');
    // The list of profiles, which is behind the name of the first: number, name and sum run together.
    const rows = () => [...document.querySelectorAll('tr')].map((row) => row.innerText.replace(/\s+/g, ' ').trim());
    await page.waitForFunction(() => document.querySelectorAll('tr').length > 3, { timeout: 20000 }).catch(() => {});
    const table = /speedscope/.test(file) ? await page.evaluate(rows) : [];
    // Chromium may replace the frame once at its first start; what was opened is known from the rows.
    const title = await page.title().catch(() => '');
    const wrong = said.filter((line) => /error|unrecogni|failed/i.test(line));
    console.log(`${path.basename(file)}\t${wrong.length ? wrong.join(' | ') : 'ok'}\t${title}\t${text.slice(0, 160)}`);
    for (const row of table) console.log(`${path.basename(file)}\tprofile\t${row}`);
    if (wrong.length) process.exitCode = 1;
    await page.close();
  }
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });

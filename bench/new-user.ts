/**
 * Times what a new user does: `npm ci && npm start` in a clone, then in Chromium, without curl, from the first sign-in until Google Analytics
 * and Meta have received an order. It waits where a person would read or type. Run it on a quiet machine: node bench/new-user.ts
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { startReceiver } from '../e2e/harness/receiver.ts';
import { browse } from '../packages/collector/test/site.ts';
import { freePort } from '../packages/server/test/servers/index.ts';

/** Before each step, to read what the page says. */
const READING_MS = 2_000;
/** Per character: a quick typist. */
const TYPING_MS = 60;

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'firsthand-new-user-'));
const started = performance.now();
const lap = (step: string): void => console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${step}`);

execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, folder], { stdio: 'inherit' });
lap('cloned');
execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
lap('npm ci');
const port = await freePort();
const service = spawn('npm', ['start'], { cwd: folder, env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' }, detached: true });
const browsing = await browse();
const receiver = await startReceiver();
try {
  const password = await printedPassword(service);
  lap('npm start prints the address and the password');
  const page = await browsing.context.newPage();
  await page.goto(`http://127.0.0.1:${port}`);
  await signIn(page, password);
  await firstRun(page);
  await install(page, 'google_analytics_4', { 'Measurement ID': 'G-DEMO123456', 'API secret': 'aB3dE5fG7hI9jK1lM3nO5p' });
  lap('Google Analytics 4 is installed');
  await install(page, 'meta_conversions_api', { 'Pixel or dataset ID': '1234567890123456', 'Access token': 'EAABsbCS1iHgBAdemotoken' });
  lap('Meta is installed');
  await sendOrder(page);
  lap('both have received the order');
} finally {
  await browsing.close();
  await receiver.close();
  if (service.pid !== undefined) process.kill(-service.pid, 'SIGTERM');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function printedPassword(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /password[^\n]*?([A-Za-z0-9_-]{12,})/i.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('exit', () => reject(new Error(`npm start ended:\n${output}`)));
  });
}
async function type(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label).first().pressSequentially(text, { delay: TYPING_MS });
}
async function click(page: Page, name: string): Promise<void> {
  await sleep(READING_MS);
  await page.getByRole('button', { name, exact: true }).click();
}

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('E-mail address').waitFor();
  await sleep(READING_MS);
  await type(page, 'E-mail address', 'owner@localhost');
  await page.locator('input[type=password]').fill(password); // pasted
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Welcome to Firsthand' }).waitFor();
  lap('signed in');
}
async function firstRun(page: Page): Promise<void> {
  await sleep(READING_MS);
  await type(page, 'Name of the pipeline', 'Web shop');
  await click(page, 'Create pipeline');
  await click(page, 'Send a sample order from here');
  await page.getByText('Received:').waitFor();
  lap('first event');
  await sleep(READING_MS);
  await page.getByRole('link', { name: 'Open the catalog' }).click();
}
/** From the catalog to a test event that the vendor's stand-in has answered. */
async function install(page: Page, vendor: string, credentials: Record<string, string>): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByText('Catalog').click();
  await page.getByLabel('Search the catalog').waitFor();
  await sleep(READING_MS);
  await type(page, 'Search the catalog', vendor.slice(0, 4));
  await page.locator(`a[href="/catalog/${vendor}"]`).click();
  await click(page, 'Install');
  for (const [label, value] of Object.entries(credentials)) await type(page, label, value);
  await page.getByRole('button', { name: /more settings/ }).click();
  await type(page, 'Endpoint', receiver.url);
  await page.getByRole('dialog').getByRole('button', { name: 'Install', exact: true }).click();
  await click(page, 'Send a test event');
  await page.getByRole('status').filter({ hasText: /20\d/ }).waitFor();
  await click(page, 'Done');
}
async function sendOrder(page: Page): Promise<void> {
  receiver.requests.length = 0;
  await click(page, 'Install snippet');
  await click(page, 'Send a sample order from here');
  await page.getByText('Sent.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('navigation', { name: 'Pages' }).getByText('Events').click();
  const delivered = page.getByRole('img', { name: /Google Analytics 4: delivered.*Meta Conversions API: delivered/ });
  await delivered.first().waitFor({ timeout: 60_000 });
  if (receiver.requests.length < 2) throw new Error(`the receiver got ${receiver.requests.length} requests`);
}

/** What stories of the console share: starting and signing in, writing in a code editor, and using it by keyboard alone. */
import type { Locator, Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { AdminClient } from '../../packages/cli/src/demo/admin-client.ts';
import { type Browsing, browse } from '../../packages/collector/test/site.ts';
import { until } from './client.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { OWNER, type Service, startService } from './service.ts';

export interface Console {
  service: Service;
  browsing: Browsing;
  page: Page;
  /** The owner over the API. */
  admin: AdminClient;
  /** A fake vendor server. */
  receiver: Receiver;
  /** What the browser's console reported, see `openPage`. */
  errors: string[];
}

/** A new service with its console open in Chromium, signed in as the owner. Removed after the file's last test. */
export async function startConsole(env: Record<string, string> = {}): Promise<Console> {
  const opened = await startSignedOut(env);
  await signIn(opened.page, opened.service.url);
  return opened;
}

/** The same with an empty page. */
export async function startSignedOut(env: Record<string, string> = {}): Promise<Console> {
  const [service, browsing, receiver] = await Promise.all([startService(env), browse('shell'), startReceiver()]);
  afterAll(async () => {
    await browsing.close();
    await receiver.close();
    await service.stop();
  });
  const errors: string[] = [];
  const page = await openPage(browsing, errors);
  return { service, browsing, page, admin: new AdminClient(service.url, OWNER.email, OWNER.password), receiver, errors };
}

export async function signIn(page: Page, url: string, { email, password } = OWNER): Promise<void> {
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(email);
  await page.locator('input[type=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Replaces the text of a code editor. */
export async function writeCode(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).click();
  await page.keyboard.press('ControlOrMeta+a');
  // Not typed key by key: the editor would close brackets by itself.
  await page.keyboard.insertText(text);
}

/**
 * Advances the page's clock (`page.clock.install`) until something is shown, or is gone: a page tries several times before it says that there
 * is no answer, and reads some things again after a while.
 */
export async function passTime(page: Page, { until: shown, isShown = true }: { until: Locator; isShown?: boolean }): Promise<void> {
  await until(`${shown} to ${isShown ? 'appear' : 'disappear'}`, async () => {
    await page.clock.runFor(5_000);
    return (await shown.count()) > 0 === isShown;
  });
}

/**
 * Presses Tab, or another key, until the focused control has that name. In a list of tabs Tab reaches the chosen one only: arrow keys go on.
 * A dialog that opens takes the focus a moment after it is shown, and one that closes gives it back: a key in between would meet another control.
 */
export async function tabTo(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' | 'ArrowRight' = 'Tab'): Promise<void> {
  await page.waitForFunction(() => {
    const dialogs = [...document.querySelectorAll('[aria-modal=true]')];
    return dialogs.length === 0 || dialogs.some((dialog) => dialog.contains(document.activeElement));
  });
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const control = document.activeElement as HTMLElement | null;
      const label = (control as HTMLInputElement | null)?.labels?.[0]?.innerText;
      return control?.getAttribute('aria-label') ?? label ?? control?.innerText ?? '';
    });
    if (name.test(focused)) return;
  }
  throw new Error(`no control named ${name} can be reached with ${key}`);
}

/** A page of a new visitor. What the browser's console reports as an error is added to `errors`, except answers that a story expects. */
export async function openPage(browsing: Browsing, errors: string[]): Promise<Page> {
  const page = await (await browsing.another()).newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // Chromium reports each rejected request and each lost connection.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource') && !text.includes('WebSocket connection'))
      errors.push(text);
  });
  return page;
}

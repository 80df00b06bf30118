/** What stories of the console share: signing in, and using it by keyboard alone. */
import type { Page } from 'playwright-core';
import type { Browsing } from '../../packages/collector/test/site.ts';
import { OWNER } from './service.ts';

export async function signIn(page: Page, url: string, { email, password } = OWNER): Promise<void> {
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(email);
  await page.locator('input[type=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Presses Tab until the focused control has that name. In a list of tabs Tab reaches the chosen one only: arrow keys go on from there. */
export async function tabTo(page: Page, name: RegExp, tab?: string): Promise<void> {
  if (tab !== undefined) await tabTo(page, new RegExp(`^${tab}$`));
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press(tab === undefined ? 'Tab' : 'ArrowRight');
    const focused = await page.evaluate(() => {
      const control = document.activeElement as HTMLElement | null;
      const label = (control as HTMLInputElement | null)?.labels?.[0]?.innerText;
      return control?.getAttribute('aria-label') ?? label ?? control?.innerText ?? '';
    });
    if (name.test(focused)) return;
  }
  throw new Error(`no control named ${name} can be reached with Tab`);
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

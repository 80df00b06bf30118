/** One Chromium for the whole run: every file gets visitors of its own in it. */
import { chromium } from 'playwright-core';
import { launchOptions } from './site.ts';

export default async function setup(): Promise<() => Promise<void>> {
  const server = await chromium.launchServer(launchOptions());
  process.env.BROWSER_ENDPOINT = server.wsEndpoint();
  return () => server.close();
}

/** Starts one Chromium for the whole run. Every test file uses its own browser contexts. */
import { chromium } from 'playwright-core';
import { launchOptions } from './site.ts';

export default async function setup(): Promise<() => Promise<void>> {
  const server = await chromium.launchServer(launchOptions());
  process.env.BROWSER_ENDPOINT = server.wsEndpoint();
  return () => server.close();
}

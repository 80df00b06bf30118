/** Pages for the browser tests, under any host name, and a Chromium that resolves every name to this machine. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

export interface PageSource {
  html: string;
  headers?: Record<string, string>;
}

export class Site {
  readonly pages = new Map<string, PageSource>();
  #server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0]!;
    const page = this.pages.get(path) ?? this.pages.get('*');
    if (!page || path === '/favicon.ico') response.writeHead(404).end();
    else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...page.headers }).end(page.html);
  });
  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function findChromium(): string {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) {
      if (existsSync(join(folder, name))) return join(folder, name);
    }
  }
  throw new Error('No Chromium on the PATH; name one in CHROMIUM_PATH');
}

export interface Browsing {
  context: BrowserContext;
  close(): Promise<void>;
}

/** A profile of its own, with these preferences: that is how a person blocks cookies, and no flag does it as truly. */
export async function browse(preferences: object = {}, args: string[] = []): Promise<Browsing> {
  const profile = mkdtempSync(join(tmpdir(), 'collector-test-'));
  mkdirSync(join(profile, 'Default'), { recursive: true });
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(),
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP *.test 127.0.0.1',
      ...args,
    ],
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

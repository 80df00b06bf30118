/** Serves pages under any host name, and starts a Chromium that resolves every name to localhost. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { type Chromium, findChromium } from '../../server/test/servers/find.ts';

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

/**
 * Chromium starts these parts of its own window for every new visitor, headless too: three processes, half the processor time of a short
 * test. The last list of an argument wins, so what Playwright turns off is repeated.
 */
const TURNED_OFF = [
  ...['InitialWebUI', 'PreloadTopChromeWebUI', 'SpareRendererForSitePerProcess'],
  ...['WebUIOmniboxAimPopup', 'WebUIOmniboxPopup', 'WebUIToolbarProcessOverheadExperiment'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose'],
  ...['HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay', 'MediaRouter', 'NetworkTimeServiceQuerying'],
  ...['OptimizationHints', 'PaintHolding', 'PreconnectToSearch', 'ThirdPartyStoragePartitioning'],
];
const ARGS = [
  `--disable-features=${TURNED_OFF.join()}`,
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP *.test 127.0.0.1',
];

export const launchOptions = (program: Chromium = 'browser') => ({
  executablePath: pathOf(program),
  headless: true,
  chromiumSandbox: false,
  args: ARGS,
});

function pathOf(program: Chromium): string {
  const found = findChromium(program);
  if (found === undefined) throw new Error('No Chromium on the PATH; name one in CHROMIUM_PATH');
  return found;
}

export interface Browsing {
  context: BrowserContext;
  /** A new visitor in the same browser. */
  another(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Ends all of its visitors. */
  close(): Promise<void>;
}

/** Added to every page: `openRequests` counts `fetch` requests whose responses are not completely handled. */
function countRequests(): void {
  const { fetch } = window;
  let open = 0;
  // A task of the page that a fake clock does not delay.
  const turn = () =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = done;
      port2.postMessage(0);
    });
  window.fetch = (...args) => {
    open++;
    const answer = fetch(...args);
    const end = async () => {
      await turn();
      await turn();
      open--;
    };
    answer.then((one) => one.clone().text()).then(end, end);
    return answer;
  };
  Object.defineProperty(window, 'openRequests', { get: () => open });
}

/** The test files of a worker process share these browsers. They end with the process. */
const launched = new Map<Chromium, Promise<Browser>>();

/** A visitor, with their own cookies and storage. */
export async function browse(program: Chromium = 'browser'): Promise<Browsing> {
  const launching = launched.get(program) ?? chromium.launch(launchOptions(program));
  launched.set(program, launching);
  const browser = await launching;
  const contexts: BrowserContext[] = [];
  const another = async (options?: BrowserContextOptions) => {
    // Nothing moves: frames of an animation cost as much as the page, and Playwright waits for its end before it clicks.
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    contexts.push(context);
    // It only ends a hung test: Playwright's own 30 s are too short for a page that loads on a busy machine.
    context.setDefaultTimeout(90_000);
    await context.addInitScript(countRequests);
    return context;
  };
  const close = async () => void (await Promise.all(contexts.map((context) => context.close())));
  return { context: await another(), another, close };
}

/** A browser with these profile preferences. People block cookies this way; command-line flags behave differently. */
export async function browseWith(preferences: object): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'collector-test-'));
  mkdirSync(join(profile, 'Default'), { recursive: true });
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, launchOptions());
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

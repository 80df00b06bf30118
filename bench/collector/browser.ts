/**
 * A headless Chromium without an attached debugger: it is driven through the browser's debugging socket, and no session stays attached to
 * a page. A test driver makes the browser report every request and call, which costs the page tenths of a millisecond each that no
 * visitor pays.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchOptions } from '../../packages/collector/test/site.ts';
import type { TraceEvent } from './trace.ts';

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--remote-debugging-port=0',
  '--disable-back-forward-cache',
  '--disable-breakpad',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-features=OptimizationHints,NetworkTimeServiceQuerying',
  '--metrics-recording-only',
  '--password-store=basic',
];
type Message = { id?: number; method?: string; params: never; result: never; error?: { message: string } };

export class Browser {
  #process: ChildProcess;
  #socket: WebSocket;
  #profile: string;
  #calls = 0;
  #answers = new Map<number, (message: Message) => void>();
  #listeners = new Map<string, (params: never) => void>();

  private constructor(process: ChildProcess, socket: WebSocket, profile: string) {
    this.#process = process;
    this.#socket = socket;
    this.#profile = profile;
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data as string) as Message;
      if (message.id === undefined) this.#listeners.get(message.method!)?.(message.params);
      else this.#answers.get(message.id)?.(message);
    });
  }

  static async launch(): Promise<Browser> {
    const { executablePath, args } = launchOptions();
    const profile = mkdtempSync(join(tmpdir(), 'collector-bench-'));
    const process = spawn(executablePath, [...ARGS, ...args, `--user-data-dir=${profile}`], { stdio: ['ignore', 'ignore', 'pipe'] });
    const address = await new Promise<string>((resolve, reject) => {
      let text = '';
      process.stderr.on('data', (chunk: Buffer) => {
        text += chunk;
        const found = /DevTools listening on (ws:\S+)/.exec(text);
        if (found) resolve(found[1]!);
      });
      process.once('exit', () => reject(new Error(`Chromium did not start: ${text}`)));
    });
    const socket = new WebSocket(address);
    await once(socket, 'open');
    return new Browser(process, socket, profile);
  }

  async call<T = Record<string, never>>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = ++this.#calls;
    const answered = new Promise<Message>((resolve) => this.#answers.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await answered;
    this.#answers.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** The browser's trace events while `what` runs. */
  async trace(categories: string[], what: () => Promise<void>): Promise<TraceEvent[]> {
    const events: TraceEvent[] = [];
    this.#listeners.set('Tracing.dataCollected', ({ value }: { value: TraceEvent[] }) => events.push(...value));
    const complete = new Promise<void>((resolve) => this.#listeners.set('Tracing.tracingComplete', () => resolve()));
    await this.call('Tracing.start', { traceConfig: { includedCategories: categories, excludedCategories: ['*'] } });
    await what();
    await this.call('Tracing.end');
    await complete;
    return events;
  }

  async close(): Promise<void> {
    const gone = once(this.#process, 'exit');
    await this.call('Browser.close');
    await gone;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One tab in a new browser context: its own cookies and storage. */
export class Tab {
  #browser: Browser;
  #visitor: string;
  #target: string;

  private constructor(browser: Browser, visitor: string, target: string) {
    this.#browser = browser;
    this.#visitor = visitor;
    this.#target = target;
  }
  static async open(browser: Browser): Promise<Tab> {
    const { browserContextId } = await browser.call<{ browserContextId: string }>('Target.createBrowserContext');
    const { targetId } = await browser.call<{ targetId: string }>('Target.createTarget', { url: 'about:blank', browserContextId });
    return new Tab(browser, browserContextId, targetId);
  }
  async close(): Promise<void> {
    await this.#browser.call('Target.disposeBrowserContext', { browserContextId: this.#visitor });
  }
  /** Detaches the session as soon as the navigation starts. */
  async go(url: string): Promise<void> {
    await this.#withSession((session) => this.#browser.call('Page.navigate', { url }, session));
  }
  /** A new visitor in the existing renderer process. `url` is a page of the site. */
  async forget(url: string): Promise<void> {
    await this.#withSession(async (session) => {
      await this.#browser.call('Page.navigate', { url }, session);
      const expression = `location.href === '${url}' && document.readyState === 'complete' && !localStorage.clear()`;
      const isClear = async () =>
        (await this.#browser.call<{ result: { value: boolean } }>('Runtime.evaluate', { expression }, session)).result.value;
      while (!(await isClear())) await new Promise((resolve) => setTimeout(resolve, 10));
    });
    await this.#browser.call('Storage.clearCookies', { browserContextId: this.#visitor });
  }
  async #withSession(what: (session: string) => Promise<unknown>): Promise<void> {
    const { sessionId } = await this.#browser.call<{ sessionId: string }>('Target.attachToTarget', {
      targetId: this.#target,
      flatten: true,
    });
    await what(sessionId);
    await this.#browser.call('Target.detachFromTarget', { sessionId });
  }
}

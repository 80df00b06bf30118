/**
 * Main-thread time that a script costs a page, as two figures.
 *
 * Of the whole page: the page has loaded, with a script of its own, and has come to rest. Then a timer of it adds the script's
 * tag, as a snippet does. From the beginning of that timer's task on, for `WINDOW_MS`, every task of the renderer's main thread
 * is counted by Chromium's own trace, and the promises that go on between them, whatever it is: making the tag and asking for
 * the file, its answer, compiling and running it, its timers, its request and the answer to that, storage and cookies; what a task
 * waits for (another process that has to say what the cookies are) is part of its time. Less the same of a page whose timer adds
 * nothing, loaded in the same round.
 *
 * Of the script: the part of it that the trace puts down to the script's file, as Lighthouse does for its "bootup time". What the
 * browser does for any script and any request before and after that is not in it.
 *
 * Neither is the sum from the navigation on: there the page's own commit, of 10 to 30 ms and never twice the same, drowns
 * what is asked for. Every load is that of a new visitor: no storage, no cookie. The process is a new one each time, as for the
 * first page of a site: nothing is cached or compiled, nothing of the browser was used before by anybody. Or it is one that has
 * shown pages of the site before.
 */
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { Ingest } from '../../packages/collector/test/ingest.ts';
import { launchOptions, Site } from '../../packages/collector/test/site.ts';
import { BEGIN, CATEGORIES, type Question, type Share, type Spent, spentIn } from './trace.ts';

/** Before it counts: files come into the machine's memory. */
const WARM_ROUNDS = 2;
/** The page is at rest: its first paint and what follows it are over. */
const REST_MS = 500;
/** Long enough for the answer to be dealt with, several times over; that the page view came within it is checked. */
const WINDOW_MS = 1000;
export interface Candidate {
  name: string;
  code: string;
  /** Attributes of the tag, as `dataset` has them. */
  dataset?: Record<string, string>;
}

const pageOf = (adds: string) => `<!doctype html><html><head><title>Shop</title><script src="/own"></script>
<script>addEventListener('load', () => setTimeout(() => { performance.mark('${BEGIN}'); ${adds} }, ${REST_MS}))</script>
</head><body><p>hello</p></body></html>`;
const adds = (src: string, dataset: Record<string, string>) =>
  `const tag = document.createElement('script'); tag.async = true; Object.assign(tag.dataset, ${JSON.stringify(dataset)}); tag.src = '${src}'; document.head.append(tag);`;

async function load(page: Page, url: string, question: Question, isDone: () => boolean): Promise<Spent> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: CATEGORIES[question.share] });
  await page.goto(url);
  await page.waitForTimeout(REST_MS + WINDOW_MS);
  const spent = spentIn(await browser.stopTracing(), question);
  if (!isDone()) throw new Error(`No page view came from ${url}`);
  return spent;
}

/** A visitor who was never here before, in the process that is there. */
async function forget(context: BrowserContext, page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.evaluate(() => localStorage.clear());
  await context.clearCookies();
}

export interface Plan {
  candidates: (server: string) => Promise<Candidate[]>;
  rounds: number;
  process: 'new' | 'used';
  share: Share;
}

/** The median of each candidate's differences to the page without it, which takes its turn in every round. */
export async function costs({ candidates, rounds, process, share }: Plan): Promise<[name: string, cost: Spent][]> {
  const ingest = await new Ingest().start();
  // Peers name themselves in headers of their own.
  ingest.allowedHeaders += ', X-Write-Key, AnonymousId, SentAt, SP-Anonymous';
  const site = await new Site().start();
  const browser = await chromium.launch(launchOptions());
  try {
    const server = `http://localhost:${ingest.port}`;
    const list = await candidates(server);
    site.pages.set('/own', { html: 'document.title', headers: { 'Content-Type': 'text/javascript' } });
    site.pages.set('/before', { html: '<!doctype html><title>Before</title>' });
    site.pages.set('/without', { html: pageOf('') });
    for (const [i, { code, dataset = {} }] of list.entries()) {
      ingest.files.set(`/${i}.js`, code);
      site.pages.set(`/with-${i}`, { html: pageOf(adds(`${server}/${i}.js`, dataset)) });
    }
    const address = (path: string) => `http://localhost:${site.port}${path}`;
    let context = await browser.newContext();
    let page = await context.newPage();
    const visit = async (path: string, file: string | undefined, isDone: () => boolean) => {
      if (process === 'used') await forget(context, page, address('/before'));
      else {
        await context.close();
        context = await browser.newContext();
        page = await context.newPage();
      }
      return load(page, address(path), { share, file, windowMs: WINDOW_MS }, isDone);
    };
    const differences: Spent[][] = list.map(() => []);
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      const without = await visit(`/without?round=${round}`, undefined, () => true);
      for (const i of list.keys()) {
        const before = ingest.requests.length;
        const spent = await visit(`/with-${i}?round=${round}`, `${server}/${i}.js`, () => ingest.requests.length > before);
        if (round >= 0) differences[i]!.push({ wall: spent.wall - without.wall, processor: spent.processor - without.processor });
      }
    }
    return list.map(({ name }, i) => [name, { wall: median(differences[i]!, 'wall'), processor: median(differences[i]!, 'processor') }]);
  } finally {
    await browser.close();
    await Promise.all([ingest.stop(), site.stop()]);
  }
}

const median = (spent: Spent[], of: keyof Spent) => spent.map((one) => one[of]).sort((a, b) => a - b)[spent.length >> 1]!;

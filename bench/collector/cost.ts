/**
 * Main-thread time that a script costs a page, as three figures of the same loads.
 *
 * `page`, all of it: the page has loaded, with a script of its own, and has come to rest. Then a timer of it adds the script's
 * tag, as a snippet does. From the beginning of that timer's task on, for `WINDOW_MS`, every task of the renderer's main thread
 * is counted by Chromium's own trace, and the promises that go on between them, whatever it is: making the tag and asking for
 * the file, its answer, compiling and running it, its timers, its request and the answer to that, storage and cookies; what a task
 * waits for (another process that has to say what the cookies are) is part of its time. Less the same of a page whose timer adds
 * nothing, loaded in the same round.
 *
 * `caused`, what the script itself causes: the same, less that of an empty script, loaded in the same round. What the browser takes
 * to add a tag, to fetch a file and to hand it over is gone; everything that follows from what is in the file is still there.
 *
 * `script`, its own part: of the tasks after the tag was added, those in which JavaScript runs, whole, and its promises. What the
 * browser does by itself for a request and its answer is not in it. Lighthouse ("bootup time") and the developer tools assign time
 * to a script in this way.
 *
 * None is the sum from the navigation on: there the page's own commit, of 10 to 30 ms and never twice the same, drowns
 * what is asked for. Every load is that of a new visitor: no storage, no cookie. The process is a new one each time, as for the
 * first page of a site: nothing is cached or compiled, nothing of the browser was used before by anybody. Or it is one that has
 * shown pages of the site before.
 */
import { Ingest } from '../../packages/collector/test/ingest.ts';
import { Site } from '../../packages/collector/test/site.ts';
import { Browser, Tab } from './browser.ts';
import { BEGIN, CATEGORIES, type Cost, costIn, type Spent } from './trace.ts';

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
export interface Figures extends Cost {
  caused: Spent;
}

const pageOf = (adds: string) => `<!doctype html><html><head><title>Shop</title><script src="/own"></script>
<script>addEventListener('load', () => setTimeout(() => { performance.mark('${BEGIN}'); ${adds} }, ${REST_MS}))</script>
</head><body><p>hello</p></body></html>`;
const adds = (src: string, dataset: Record<string, string>) =>
  `const tag = document.createElement('script'); tag.async = true; Object.assign(tag.dataset, ${JSON.stringify(dataset)}); tag.src = '${src}'; document.head.append(tag);`;

export interface Plan {
  candidates: (server: string) => Promise<Candidate[]>;
  rounds: number;
  process: 'new' | 'used';
}

/** The median of each candidate's differences to the page without it, which takes its turn in every round. The empty script is first. */
export async function costs({ candidates, rounds, process }: Plan): Promise<[name: string, figures: Figures][]> {
  const ingest = await new Ingest().start();
  // Peers name themselves in headers of their own.
  ingest.allowedHeaders += ', X-Write-Key, AnonymousId, SentAt, SP-Anonymous';
  const site = await new Site().start();
  const browser = await Browser.launch();
  try {
    const server = `http://localhost:${ingest.port}`;
    const list: Candidate[] = [{ name: 'an empty script', code: '' }, ...(await candidates(server))];
    site.pages.set('/own', { html: 'document.title', headers: { 'Content-Type': 'text/javascript' } });
    site.pages.set('/before', { html: '<!doctype html><title>Before</title>' });
    site.pages.set('/without', { html: pageOf('') });
    for (const [i, { code, dataset = {} }] of list.entries()) {
      ingest.files.set(`/${i}.js`, code);
      site.pages.set(`/with-${i}`, { html: pageOf(adds(`${server}/${i}.js`, dataset)) });
    }
    const address = (path: string) => `http://localhost:${site.port}${path}`;
    let tab = await Tab.open(browser);
    const visit = async (path: string, sends: boolean): Promise<Cost> => {
      if (process === 'used') await tab.forget(address('/before'));
      else {
        await tab.close();
        tab = await Tab.open(browser);
      }
      const before = ingest.requests.length;
      const events = await browser.trace(CATEGORIES, async () => {
        await tab.go(address(path));
        await new Promise((resolve) => setTimeout(resolve, REST_MS + WINDOW_MS + 200));
      });
      if (sends && ingest.requests.length === before) throw new Error(`No page view came from ${path}`);
      return costIn(events, WINDOW_MS);
    };
    const measured: Figures[][] = list.map(() => []);
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      const without = await visit(`/without?round=${round}`, false);
      const loads = new Map<number, Cost>();
      // In another order each time: the process clears up after a certain number of pages, which must not fall on the same one always.
      for (const turn of list.keys()) {
        const i = (turn + WARM_ROUNDS + round) % list.length;
        loads.set(i, await visit(`/with-${i}?round=${round}`, list[i]!.code !== ''));
      }
      const empty = loads.get(0)!;
      for (const [i, { page, script }] of loads) {
        const figures = { page: less(page, without.page), caused: less(page, empty.page), script: less(script, without.script) };
        if (round >= 0) measured[i]!.push(figures);
      }
    }
    return list.map(({ name }, i) => [name, medians(measured[i]!)]);
  } finally {
    await browser.close();
    await Promise.all([ingest.stop(), site.stop()]);
  }
}

const less = (a: Spent, b: Spent): Spent => ({ wall: a.wall - b.wall, processor: a.processor - b.processor });
function medians(all: Figures[]): Figures {
  const of = (figure: keyof Figures): Spent => {
    const median = (unit: keyof Spent) => all.map((one) => one[figure][unit]).sort((a, b) => a - b)[all.length >> 1]!;
    return { wall: median('wall'), processor: median('processor') };
  };
  return { page: of('page'), caused: of('caused'), script: of('script') };
}

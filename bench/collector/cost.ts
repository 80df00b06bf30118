/**
 * Main-thread time that a script costs a page, as three figures of the same loads.
 *
 * `page`: the total. The page has loaded, with a script of its own, and is idle. Then a timer adds the script's tag, as a snippet does.
 * From the start of that timer's task, Chromium's trace counts every task and microtask of the renderer's main thread for `WINDOW_MS`:
 * adding the tag, fetching, compiling and running the file, its timers, its request and the response, storage and cookies. Time in
 * which a task waits for another process, for example for cookies, counts too. The same figure of a page whose timer adds nothing,
 * loaded in the same round, is subtracted.
 *
 * `caused`: `page` minus that of an empty script, loaded in the same round. This removes the browser's cost of adding a tag and fetching
 * a file. Everything that the content of the file causes remains.
 *
 * `script`: of the tasks after the tag was added, the whole time of those in which JavaScript runs, and microtasks. The browser's own
 * work for a request and its response is excluded. Lighthouse ("bootup time") and the developer tools attribute time to a script in
 * this way.
 *
 * No figure starts at the navigation: the page's own commit takes 10 to 30 ms, varies, and would hide the script. Every load is that of a
 * new visitor without storage and cookies. The renderer process is either new, as for the first page of a site, with nothing cached or
 * compiled; or it has already shown pages of the site.
 */
import { Ingest } from '../../packages/collector/test/ingest.ts';
import { Site } from '../../packages/collector/test/site.ts';
import { Browser, Tab } from './browser.ts';
import { BEGIN, CATEGORIES, type Cost, costIn, type Spent } from './trace.ts';

/** Not counted: they bring files into the page cache. */
const WARM_ROUNDS = 2;
/** Until the page is idle after its first paint. */
const REST_MS = 500;
/** Several times what the response needs. A check ensures that the page view arrived within it. */
const WINDOW_MS = 1000;
export interface Candidate {
  name: string;
  code: string;
  /** `data-` attributes of the tag, named as in `dataset`. */
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

/** The median of each candidate's differences to the page without it, loaded in every round. The empty script is first. */
export async function costs({ candidates, rounds, process }: Plan): Promise<[name: string, figures: Figures][]> {
  const ingest = await new Ingest().start();
  // Peers send custom headers.
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
      if (sends && ingest.requests.length === before) throw new Error(`No page view arrived from ${path}`);
      return costIn(events, WINDOW_MS);
    };
    const measured: Figures[][] = list.map(() => []);
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      const without = await visit(`/without?round=${round}`, false);
      const loads = new Map<number, Cost>();
      // A different order each time: garbage collection after a number of pages must not always hit the same candidate.
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

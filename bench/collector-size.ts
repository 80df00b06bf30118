/**
 * What the collector costs a page: bytes against the browser packages of its peers, bundled the same way, and main-thread
 * time of loading it and counting the first page view, of all of them measured the same way in the same rounds: once every task
 * of the page, once what is put down to the script alone.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildCollector } from '../packages/collector/build/builder.ts';
import { aPipeline, FULL } from '../packages/collector/test/fixtures.ts';
import { type Candidate, costs } from './collector/cost.ts';
import { bundlePeers, PEERS, runnablePeers } from './collector/peers.ts';
import type { Share } from './collector/trace.ts';

export interface BenchResult {
  name: string;
  value: number;
  unit: string;
  floor?: number;
  ok?: boolean;
}

const CORE_MAX_BYTES = 3000;
const FULL_MAX_BYTES = 6000;
const MAX_MS = 5;
const ROUNDS = 11;

const gzipped = (code: string) => gzipSync(code, { level: 9 }).length;
const BUILDS = [
  { name: 'collector, core', pipeline: aPipeline(), max: CORE_MAX_BYTES },
  { name: 'collector, everything on', pipeline: FULL, max: FULL_MAX_BYTES },
];

async function sizes(): Promise<BenchResult[]> {
  const out: BenchResult[] = [];
  for (const { name, pipeline, max } of BUILDS) {
    const value = gzipped((await buildCollector({ pipeline, client_side: [] })).code);
    out.push({ name, value, unit: 'bytes gzip', floor: max, ok: value <= max });
  }
  for (const [name, code] of await bundlePeers(PEERS)) out.push({ name, value: gzipped(code), unit: 'bytes gzip' });
  return out;
}

async function own(server: string): Promise<Candidate[]> {
  // What any script that sends one request costs: below this nobody gets.
  const out: Candidate[] = [{ name: 'a script of one fetch', code: `fetch('${server}/v1/p',{method:'POST',body:'{}'})` }];
  for (const { name, pipeline } of BUILDS) {
    const { code } = await buildCollector({ pipeline, client_side: [] });
    // Nobody on this page tells of consent: without the wait its page view would come after the window.
    out.push({ name, code, dataset: { pipelineKey: pipeline.pipeline_key, waitMs: '0' } });
  }
  return out;
}
async function withPeers(server: string): Promise<Candidate[]> {
  const peers = [...(await bundlePeers(runnablePeers(server)))];
  return [...(await own(server)), ...peers.map(([name, code]) => ({ name, code }))];
}

const SHARES: [share: Share, title: string][] = [
  ['page', 'every task of the page'],
  ['script', "the script's own part"],
];
const PROCESSES = [
  { process: 'new', title: 'in a new process', candidates: withPeers },
  { process: 'used', title: 'in a process that is in use', candidates: own },
] as const;

/** The bound stands on both figures: the first is the stricter one, the second what such figures usually mean. */
async function mainThread(): Promise<BenchResult[]> {
  const out: BenchResult[] = [];
  const round = (ms: number) => Math.round(ms * 100) / 100;
  for (const { process, title, candidates } of PROCESSES) {
    for (const [share, of] of SHARES) {
      for (const [name, cost] of await costs({ candidates, rounds: ROUNDS, process, share })) {
        const result = {
          name: `load and first page view, ${title}, ${of}: ${name}`,
          value: round(cost.wall),
          unit: 'ms of the main thread',
        };
        out.push(name.startsWith('collector') ? { ...result, floor: MAX_MS, ok: cost.wall <= MAX_MS } : result);
        out.push({ ...result, value: round(cost.processor), unit: 'ms of the processor' });
      }
    }
  }
  return out;
}

export async function run(): Promise<BenchResult[]> {
  return [...(await sizes()), ...(await mainThread())];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());

/**
 * What the collector costs a page: its size, and the main-thread time to load it and send the first page view. Its peers' browser
 * packages, an empty script and a script with a single request are measured in the same rounds (see collector/cost.ts).
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildCollector } from '../packages/collector/build/builder.ts';
import { aPipeline, FULL } from '../packages/collector/test/fixtures.ts';
import { type Candidate, costs, type Figures } from './collector/cost.ts';
import { bundlePeers, PEERS, runnablePeers } from './collector/peers.ts';
import type { BenchResult } from './result.ts';

const CORE_MAX_BYTES = 3000;
const FULL_MAX_BYTES = 6000;
const MAX_MS = 5;
const ROUNDS = 15;

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
  // The floor: what any script that sends one request costs.
  const out: Candidate[] = [{ name: 'a script of one fetch', code: `fetch('${server}/v1/p',{method:'POST',body:'{}'})` }];
  for (const { name, pipeline } of BUILDS) {
    const { code } = await buildCollector({ pipeline, client_side: [] });
    // The page has no consent tool. The default wait would move the page view out of the measured window.
    out.push({ name, code, dataset: { pipelineKey: pipeline.pipeline_key, waitMs: '0' } });
  }
  return out;
}
async function withPeers(server: string): Promise<Candidate[]> {
  const peers = [...(await bundlePeers(runnablePeers(server)))];
  return [...(await own(server)), ...peers.map(([name, code]) => ({ name, code }))];
}

const FIGURES: [figure: keyof Figures, title: string][] = [
  ['page', 'every task of the page'],
  ['caused', 'what the script causes'],
  ['script', "the script's own part"],
];
const PROCESSES = [
  { process: 'new', title: 'in a new process', candidates: withPeers },
  { process: 'used', title: 'in a process that is in use', candidates: own },
] as const;

/** The bound applies to `caused` and `script`, in both kinds of process; `page` cannot be lower than that of a bare request. */
async function mainThread(): Promise<BenchResult[]> {
  const out: BenchResult[] = [];
  const round = (ms: number) => Math.round(ms * 100) / 100;
  for (const { process, title, candidates } of PROCESSES) {
    const measured = await costs({ candidates, rounds: ROUNDS, process });
    for (const [figure, of] of FIGURES) {
      for (const [name, figures] of measured) {
        const { wall, processor } = figures[figure];
        const result = { name: `load and first page view, ${title}, ${of}: ${name}`, value: round(wall), unit: 'ms of the main thread' };
        const isJudged = figure !== 'page' && name.startsWith('collector');
        out.push(isJudged ? { ...result, floor: MAX_MS, ok: wall <= MAX_MS } : result);
        out.push({ ...result, value: round(processor), unit: 'ms of the processor' });
      }
    }
  }
  return out;
}

export async function run(): Promise<BenchResult[]> {
  return [...(await sizes()), ...(await mainThread())];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());

/**
 * Schema-driven cases against the whole API with schemathesis, from PyPI in a virtual environment of its own. Needs Python 3 and
 * the network; says so and leaves it out where they are missing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchMemory } from '../e2e/faults/kit/measure.ts';
import { send, until } from '../e2e/harness/client.ts';
import type { Slice } from './sums.ts';
import { startTarget, type Target, watchStalls } from './target.ts';

const VERSION = '4.32.5';
const EXAMPLES = process.env.ATTACK_EXAMPLES ?? '20';

/** The collection operations take a pipeline key, all others an access token. A token on both would get 401 from half of the API. */
const PARTS = [
  { name: 'management API', filter: '--include-path-regex', share: 0.7 },
  { name: 'collection', filter: '--exclude-path-regex', share: 0.3 },
] as const;
const MANAGEMENT = '^/v1/(admin|oauth)/';
/** These end the session, also by changing its user, and every later case would be a 401. */
const SIGN_OUT = '/auth/(logout|session)|/users/(me/password|\\{id\\})';

/** Examples and boundary values hardly depend on the seed, so only the first pass has them. A further pass generates more of the others. */
const FIRST_PASS = ['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', EXAMPLES];
const FURTHER_PASS = ['--phases', 'fuzzing,stateful', '--max-examples', String(10 * Number(EXAMPLES))];

export interface SchemaPlan {
  /** Cases are the same for the same seed. */
  seed: number;
  /** Repeats fuzzing until this time is over. */
  seconds: number;
  /** Further passes on the same service, each with the next seed, until there are so many cases. */
  cases: number;
}
type SchemaSlice = Omit<Slice, 'seconds'>;

/** Undefined: schemathesis cannot be installed. */
export async function runSchemathesis({ seed: first, seconds, cases: wanted }: SchemaPlan): Promise<SchemaSlice | undefined> {
  const folder = join(tmpdir(), `firsthand-schemathesis-${VERSION}`);
  const command = join(folder, 'bin', 'schemathesis');
  if (!existsSync(command)) {
    const made = spawnSync('python3', ['-m', 'venv', folder]).status === 0;
    const installed = made && spawnSync(join(folder, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]).status === 0;
    if (!installed) {
      console.log('schema: left out, Python 3 with venv and access to PyPI are needed');
      return undefined;
    }
  }
  // The run takes longer than the usual lifetime of a token.
  const target = await startTarget({ ACCESS_TOKEN_TTL: '24h' });
  const stalls = watchStalls(target.service);
  const memory = watchMemory(() => target.service.pid);
  const began = performance.now();
  const left = () => seconds - (performance.now() - began) / 1_000;
  let seed = first;
  let cases = 0;
  let faults = 0;
  /** Whether token and key still work. */
  let isUsable = true;
  try {
    do {
      const before = cases;
      for (const { name, filter, share } of PARTS) {
        const isManagement = name === 'management API';
        const key = isManagement ? undefined : await newKey(target);
        const args = [
          'run',
          `${target.service.url}/v1/admin/openapi.json`,
          ...['--checks', 'not_a_server_error'],
          ...(seed === first ? FIRST_PASS : FURTHER_PASS),
          ...['--seed', String(seed)],
          ...['--workers', '2'],
          ...(Number.isFinite(seconds) ? ['--max-time', String(Math.max(1, Math.ceil(seconds * share)))] : []),
          ...[filter, MANAGEMENT],
          ...(isManagement ? ['--exclude-path-regex', SIGN_OUT] : []),
          ...['--header', `Authorization: Bearer ${key ?? target.client.token}`],
        ];
        const said = await runToEnd(command, args);
        const [, generated, failures = '0'] = /^Test cases:\s+(\d+) generated(?:, \d+ found (\d+) unique failure)?/m.exec(said) ?? [];
        cases += Number(generated ?? 0);
        // An operation whose cases cannot be generated is the tool's matter. A run without a summary is a fault.
        faults += generated === undefined ? 1 : Number(failures);
        const still = key === undefined ? (await target.client.call('GET', '/users/me')).status : await trackWith(target, key);
        if (still !== 200) {
          faults += 1;
          console.log(`schema, ${name}: the token or key ended during the run, so cases were refused for it`);
          isUsable = false;
          break;
        }
        console.log(
          `schema, seed ${seed}, ${name}: ${generated ?? 'no'} cases, ${failures} failures; ${cases} cases so far; load ${loadavg()[0]?.toFixed(1)}`,
        );
      }
      seed += 1;
      if (cases === before) break;
    } while (isUsable && cases < wanted && left() > 0 && target.service.ended() === undefined);
    if (target.service.ended() !== undefined) faults += 1;
    const { wall, cpu, step } = stalls.stop();
    const peakMb = Math.round(memory.peak);
    console.log(`schema: ${cases} cases; longest stall ${wall} ms, own work ${cpu} ms ${step}; private memory ${peakMb} MB at most`);
    return { runner: 'schema', cases, faults, stall: { wall, cpu }, peakMb, next: seed - 1 };
  } finally {
    memory.stop();
    await target.service.stop();
  }
}

/** The key of a new pipeline: the cases of the management API delete the others. */
async function newKey(target: Target): Promise<string> {
  const { pipeline_key } = await target.client.post('/pipelines', { name: 'Collection', rate_limit_rps: 1_000_000 });
  await until('the key is known', async () => (await trackWith(target, pipeline_key)) === 200);
  return pipeline_key;
}
async function trackWith({ service }: Target, key: string): Promise<number> {
  return (await send(service, key, '/v1/t', { type: 'track', event: 'Before and after the cases' })).status;
}

/** Not `spawnSync`: the service's output must be read meanwhile. */
async function runToEnd(command: string, args: readonly string[]): Promise<string> {
  // It leaves its caches in the current folder.
  const run = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: tmpdir() });
  let said = '';
  run.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    process.stdout.write(chunk);
  });
  await once(run, 'close');
  return said;
}

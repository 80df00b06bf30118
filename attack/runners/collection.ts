import { gzipSync } from 'node:zlib';
import { send } from '../../e2e/harness/client.ts';
import { corpus, expand, type Named, type Repeated } from '../corpus.ts';
import type { Note, Runner, Target } from '../target.ts';

interface Bytes extends Named, Repeated {
  refused?: boolean;
}
interface Archive extends Named {
  of: Repeated;
  path: string;
  cut?: number;
  flip?: boolean;
}

/** Requests at a time. */
const LANES = 4;

/**
 * Hostile bodies on the collection endpoints, whole, cut short and with single bytes changed. In a long run every 25th round has the
 * full size, about 1 MB a body, half of them whole; the others have 0.1 to 5 % of it, so that 50,000 requests do not fill a disk.
 */
export const collection: Runner = {
  name: 'collection',
  async run(target, rounds, note) {
    const bodies = corpus<Bytes>('collection-bytes');
    async function lane(): Promise<void> {
      for (const round of rounds) await attackOnce(target, bodies, round, note);
    }
    await Promise.all(Array.from({ length: LANES }, lane));
  },
};

async function attackOnce({ service, key }: Target, bodies: readonly Bytes[], round: number, note: Note): Promise<void> {
  for (const { name, refused, ...text } of bodies) {
    const bytes = Buffer.from(expand({ ...text, times: Math.max(1, Math.floor(text.times * sizeOf(round))) }));
    const path = text.before.includes('"page"') ? '/v1/p' : '/v1/t';
    // Whole bodies reach processing, changed ones mostly end in the parser.
    const whole = round === 0 || round % 2 === 1;
    const post = () => send(service, key, path, whole ? bytes : mutated(bytes, round)).then(({ status }) => status);
    // An idle connection may be closed just when it is used again. A second failure is the service's.
    const answer = await post().catch(() => post().catch(() => 'closed' as const));
    note(name, answer, round > 0 ? answer !== 'closed' : refused === true ? answer === 400 || answer === 413 : answer === 200);
  }
}
function sizeOf(round: number): number {
  return round % 25 === 0 ? 1 : 0.001 * (1 + (round % 49));
}

export const archives: Runner = {
  name: 'archives',
  async run({ service, key }, rounds, note) {
    for (const round of rounds) {
      for (const { name, of, path, cut, flip } of corpus<Archive>('archives')) {
        let bytes: Buffer = gzipSync(Buffer.from(expand(of)));
        if (cut !== undefined) bytes = bytes.subarray(0, cut);
        if (flip === true || round > 0) bytes = mutated(bytes, round + 1);
        const { status } = await send(service, key, path, bytes, { 'content-encoding': 'gzip' });
        note(name, status, status < 500);
      }
    }
  },
};

/** Deterministic, so that a finding can be repeated. */
function mutated(bytes: Buffer, seed: number): Buffer {
  const copy = Buffer.from(bytes);
  let state = seed * 2_654_435_761;
  for (let i = 0; i < 5; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (copy.length > 0) copy[state % copy.length] = state >>> 24;
  }
  return seed % 3 === 0 ? copy.subarray(0, state % (copy.length + 1)) : copy;
}

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { send, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { arrivalsOf, compare } from './kit/oracle.ts';

const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`);
const BASE_MS = 1_000;
/** The clock jumps during the second wait. */
const WAIT_MS = 4 * BASE_MS;

export const f12: Fault = {
  id: 'F12',
  title: 'wall clock jumps a day forward, then a day back',
  limit_s: { quick: 120, normal: 120, full: 120 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const library = LIBRARIES.find((path) => existsSync(path));
    if (!library) {
      figures.leaveOut('libfaketime is not installed (Debian: faketime); the unit tests of the log and of delivery jump an injected clock');
      return figures.verdict;
    }
    const folder = mkdtempSync(join(tmpdir(), 'firsthand-clock-'));
    scope.defer(() => rmSync(folder, { recursive: true, force: true }));
    const offset = join(folder, 'offset');
    const setClock = (by: string) => writeFileSync(offset, `${by}\n`);
    setClock('+0');
    const service = await scope.service({
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      RETRY_BASE: `${BASE_MS}ms`,
    });
    const vendor = await scope.receiver();
    const tries = new Map<string, number[]>();
    vendor.answer((request) => {
      const id = String(request.headers['webhook-id']);
      const own = tries.get(id) ?? [];
      tries.set(id, [...own, request.at]);
      return { status: id.startsWith('retry') && own.length < 2 ? 503 : 200 };
    });
    const { key } = await scope.pipeline(service, vendor.url);
    const accepted = new Set<string>();
    const track = async (id: string) => {
      const reply = await send(service, key, '/v1/t', { type: 'track', event: 'Clock', messageId: id, anonymousId: 'one' });
      if (reply.status === 200) accepted.add(id);
      return reply;
    };
    const serverTime = async () => Date.parse((await fetch(`${service.url}/v1/admin/nothing`)).headers.get('date')!);
    for (const [name, by, shift] of [
      ['a day ahead', '+1d', 86_400_000],
      ['a day back', '-1d', -86_400_000],
    ] as const) {
      const id = `retry-${shift}`;
      await track(id);
      await until('the second failure', () => tries.get(id)?.length === 2, 20_000);
      setClock(by);
      await until('the clock to jump', async () => Math.abs((await serverTime()) - Date.now() - shift) < 60_000, 20_000);
      for (let n = 0; n < 20; n++) await track(`flow-${shift}-${n}`);
      await until(`delivery with the clock ${name}`, () => tries.has(`flow-${shift}-19`), 20_000);
      await until('the third try', () => tries.get(id)!.length >= 3, 30_000).catch(() => {});
      const times = tries.get(id)!;
      const gap = (times[2] ?? Number.POSITIVE_INFINITY) - times[1]!;
      figures.holds(
        `${name}: the wait it jumps in`,
        `${WAIT_MS}–${WAIT_MS * 1.25 + 1_500} ms`,
        gap >= WAIT_MS - 5 && gap <= WAIT_MS * 1.25 + 1_500,
        `${gap} ms`,
      );
      await sleep(500);
      figures.equal(`${name}: tries`, tries.get(id)!.length, 3);
    }
    compare(figures, accepted, arrivalsOf([...tries.keys()]));
    const flowed = [...tries].filter(([id]) => id.startsWith('flow')).map(([, times]) => times.length);
    figures.equal('deliveries of each other event', [...new Set(flowed)].join(', '), '1');
    return figures.verdict;
  },
};

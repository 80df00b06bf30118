import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../runtime/clock.ts';
import { collect, record, records, until } from './conformance/kit.ts';
import { type LmdbLog, type LmdbLogOptions, openLmdbLog } from './lmdb.ts';
import { type Delivery, LogUnavailable } from './port.ts';

/** Tests that run at once pass their own `onEnd`. */
function folder(onEnd: typeof onTestFinished = onTestFinished): string {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-faults-'));
  onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
/** Runs a program to its end: what it printed, its errors too, and how it ended. */
async function run(program: string, args: string[]): Promise<{ stdout: string; output: string; code: number | null }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, output] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString()));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { stdout, output, code };
}
const SCRIPT = ['--input-type=module', '-e'];
async function open(options: Partial<LmdbLogOptions> = {}): Promise<LmdbLog> {
  const log = await openLmdbLog({ path: folder(), dedupWindowMs: 60_000, ...options });
  onTestFinished(() => log.close());
  return log;
}
const big = (topic: string, from: number, count: number) =>
  records(topic, count, from).map(({ id }) => ({ id, data: Buffer.alloc(10_000, 'x') }));
/** Appends until the log refuses; says how many were taken. */
async function fill(log: LmdbLog, topic: string): Promise<number> {
  for (let taken = 0; ; taken += 10) {
    try {
      await log.append([{ topic, records: big(topic, taken, 10) }]);
    } catch (error) {
      expect(error).toBeInstanceOf(LogUnavailable);
      return taken;
    }
  }
}

test('appends of an acknowledgement are in its transaction, even with a long commit queue', async () => {
  const log = await open();
  let commits = 0;
  const { environment } = log;
  const { commit } = environment;
  environment.commit = (write) => {
    commits++;
    return commit(write);
  };
  const topic = 'events.together';
  await log.append([{ topic, records: records(topic, 1) }]);
  const held: Delivery[] = [];
  log.consume(topic, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => void held.push(...batch));
  await until(() => held.length === 1);
  // One more, and there would be enough for a commit of its own.
  const others = Array.from({ length: 255 }, () => log.write(() => () => {}));
  const seen: number[] = [];
  await log.ackAll(held, {
    appends: [],
    derive: () => {
      seen.push(commits);
      return [];
    },
    save: () =>
      log.write(() => {
        seen.push(commits);
        return () => {};
      }),
  });
  await Promise.all(others);
  expect(seen).toHaveLength(2);
  expect(seen[0]).toBe(seen[1]);
});

test('a process that was suspended longer than the commit timeout does not report a dead disk', async () => {
  const fatal: string[] = [];
  // Long, because the disk itself is slow while many tests write.
  const log = await open({ commitTimeoutMs: 5_000, onFatal: (error) => fatal.push(error.message) });
  const topic = 'events.stall';
  const appended = log.append([{ topic, records: records(topic, 1) }]);
  // The commit has begun; this thread does not see its result for a while.
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
  await appended;
  expect(fatal).toEqual([]);
});

const hasStrace = spawnSync('strace', ['-V']).status === 0;
const lmdb = JSON.stringify(join(import.meta.dirname, 'lmdb.ts'));

describe.skipIf(!hasStrace).concurrent('a slow or broken disk', () => {
  const strace = (inject: string, source: string) => {
    const args = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=fdatasync', '-e', `inject=${inject}`];
    return run('strace', [...args, process.execPath, ...SCRIPT, source]);
  };
  /** Runs a script with the log open under strace; what it prints, and how it ended. */
  async function underStrace(onEnd: typeof onTestFinished, inject: string, script: string): ReturnType<typeof run> {
    const path = JSON.stringify(folder(onEnd));
    const source = `import { openLmdbLog } from ${lmdb};
      const log = await openLmdbLog({ path: ${path}, dedupWindowMs: 60000, onFatal: (error) => { console.log('fatal', error.message); process.exit(7); } });
      const record = (id) => ({ id: String(id), data: Buffer.from('x') });
      ${script}`;
    return strace(inject, source);
  }

  test('no append, acknowledgement or retry is answered before its flush', async (context) => {
    const { output, code } = await underStrace(
      context.onTestFinished,
      'fdatasync:delay_enter=300000',
      `const times = [];
      const timed = async (work) => { const start = performance.now(); await work; times.push(performance.now() - start); };
      const seen = [];
      log.consume('events.a', 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => void seen.push(...batch));
      for (let i = 0; i < 4; i++) await timed(log.append([{ topic: 'events.a', records: [record(i)] }]));
      await timed(Promise.all(Array.from({ length: 50 }, (_, i) => log.append([{ topic: 'events.b', records: [record('b' + i)] }]))));
      while (seen.length < 4) await new Promise((resolve) => setTimeout(resolve, 10));
      await timed(seen[0].ack());
      await timed(seen[1].retryIn(1000, {}));
      console.log('least', Math.min(...times));
      process.exit(0);`,
    );
    expect(code, output).toBe(0);
    expect(Number(/least ([\d.]+)/.exec(output)![1])).toBeGreaterThanOrEqual(295);
  });

  test('a retry stored after its due time is still delivered once', async (context) => {
    const { output, code } = await underStrace(
      context.onTestFinished,
      'fdatasync:delay_enter=300000',
      `await log.append([{ topic: 'events.a', records: Array.from({ length: 8 }, (_, i) => record(i)) }]);
      const seen = [];
      log.consume('events.a', 'g', { start: 'beginning', maxInFlight: 20, maxBatch: 20 }, async (batch) => {
        for (const delivery of batch) {
          seen.push(delivery.record.id + '/' + delivery.attempt);
          // The later ones are due first, and their commit is still under way when the earlier ones are taken.
          if (delivery.attempt === 1) setTimeout(() => delivery.retryIn(delivery.seq % 2 ? 330 : 5, {}), delivery.seq * 60);
          else void delivery.ack();
        }
      });
      while (seen.length < 16) await new Promise((resolve) => setTimeout(resolve, 50));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      console.log('seen', seen.length, new Set(seen).size);
      process.exit(0);`,
    );
    expect(code, output).toBe(0);
    expect(output).toContain('seen 16 16');
  });

  test('a failed flush ends the process, and nothing is answered after it', async (context) => {
    const { output, code } = await underStrace(
      context.onTestFinished,
      'fdatasync:error=EIO:when=20+',
      `for (let i = 0; ; i++) { await log.append([{ topic: 'events.a', records: [record(i)] }]); console.log('ok', i); }`,
    );
    expect(code, output).toBe(7);
    expect(output).toContain('fatal the disk failed a commit');
    expect(output).toContain('ok 2');
    expect(output.indexOf('ok', output.indexOf('fatal'))).toBe(-1);
  });

  test('a flush that never ends is detected', async (context) => {
    const path = folder(context.onTestFinished);
    const source = `import { openLmdbLog } from ${lmdb};
      const log = await openLmdbLog({ path: ${JSON.stringify(path)}, dedupWindowMs: 1000, commitTimeoutMs: 500, onFatal: (error) => { console.log(error.message); process.kill(process.pid, 'SIGKILL'); } });
      for (let i = 0; ; i++) await log.append([{ topic: 'events.a', records: [{ id: String(i), data: Buffer.from('x') }] }]);`;
    const { stdout } = await strace('fdatasync:delay_enter=4000000:when=20+', source);
    expect(stdout).toBe('the disk did not finish a commit within 500 ms\n');
  });
});

test.concurrent('a thousand idle consumers cost next to nothing', async (context) => {
  const source = `import { openLmdbLog } from ${lmdb};
    const log = await openLmdbLog({ path: ${JSON.stringify(folder(context.onTestFinished))}, dedupWindowMs: 60000 });
    for (let i = 0; i < 1000; i++) log.consume('events.' + i, 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async () => {});
    await log.append([{ topic: 'events.0', records: [{ id: '1', data: Buffer.from('x') }] }]);
    // Until what the start left to do is done, which takes longer on a busy machine.
    let least = Infinity;
    for (let look = 0; look < 10 && least >= 100; look++) {
      const before = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, 3000));
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, (user + system) / 1000);
    }
    console.log(least);
    process.kill(process.pid, 'SIGKILL');`;
  const { stdout } = await run(process.execPath, [...SCRIPT, source]);
  expect(Number(stdout)).toBeLessThan(100);
});

test.concurrent('private memory stays small', async (context) => {
  const source = `import { readFileSync } from 'node:fs';
    import { openLmdbLog } from ${lmdb};
    const log = await openLmdbLog({ path: ${JSON.stringify(folder(context.onTestFinished))}, dedupWindowMs: 60000 });
    for (let i = 0; i < 200; i++) await log.append([{ topic: 'events.' + i % 7, records: Array.from({ length: 250 }, (_, k) => ({ id: i + '/' + k, data: Buffer.alloc(600) })) }]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    console.log(/RssAnon:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    process.kill(process.pid, 'SIGKILL');`;
  const { stdout } = await run(process.execPath, [...SCRIPT, source]);
  const kilobytes = Number(stdout);
  expect(kilobytes).toBeGreaterThan(10_000);
  expect(kilobytes).toBeLessThan(150_000);
});

describe('no space left', () => {
  async function fillsAndRecovers(log: LmdbLog, makeRoom: () => Promise<void>): Promise<void> {
    await log.append([{ topic: 'events.small', records: records('small', 5) }]);
    const held: Delivery[] = [];
    log.consume('events.small', 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async (batch) => void held.push(...batch));
    await until(() => held.length === 5);
    const taken = await fill(log, 'events.big');
    expect(taken).toBeGreaterThan(0);
    expect(log.available).toBe(false);
    await expect(log.append([{ topic: 'events.small', records: [record('refused')] }])).rejects.toThrow(LogUnavailable);
    const settled = Promise.all(held.map((delivery) => delivery.ack([{ topic: 'outcomes', records: [record(`o${delivery.record.id}`)] }])));
    await makeRoom();
    await until(() => log.available);
    await settled;
    await log.append([{ topic: 'events.small', records: [record('refused')] }]);
    expect((await log.lag('events.small', 'g')).waiting).toBe(1);
    expect((await collect(log.read('outcomes', { limit: 10 }))).length).toBe(5);
    const stored = await collect(log.read('events.big', { limit: 100_000 }));
    expect(stored.length).toBe(taken);
  }

  const isRoot = process.getuid?.() === 0;
  const canMount =
    isRoot && spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs -o size=1m x $d && umount $d && rmdir $d']).status === 0;

  test.skipIf(!canMount)('a full disk rejects appends immediately, and freeing it needs no restart', async () => {
    const mount = folder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'firsthand', mount]);
    onTestFinished(() => void spawnSync('umount', ['-l', mount]));
    writeFileSync(join(mount, 'ballast'), Buffer.alloc(6_000_000));
    const fatal: Error[] = [];
    const log = await openLmdbLog({ path: join(mount, 'log'), dedupWindowMs: 60_000, onFatal: (error) => fatal.push(error) });
    await fillsAndRecovers(log, async () => unlinkSync(join(mount, 'ballast')));
    expect(fatal).toEqual([]);
    await log.close();
  });
});

describe('space', () => {
  test('is reused: under a steady load with expiry the file stops growing', async () => {
    const path = folder();
    const log = await openLmdbLog({ path, dedupWindowMs: 200 });
    onTestFinished(() => log.close());
    let settled = 0;
    log.consume('ingest.0', 'g', { start: 'beginning', maxInFlight: 500, maxBatch: 100 }, async (batch) => {
      await Promise.all(
        batch.map((delivery) => delivery.ack([{ topic: 'events.a', records: [{ id: delivery.record.id, data: delivery.record.data }] }])),
      );
      settled += batch.length;
    });
    const sizes: number[] = [];
    let sent = 0;
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 10; i++, sent += 50)
        await log.append([
          { topic: 'ingest.0', records: Array.from({ length: 50 }, (_, k) => ({ id: `s${sent + k}`, data: Buffer.alloc(600) })) },
        ]);
      await until(() => settled === sent);
      for (const topic of ['ingest.0', 'events.a']) await log.expire(topic, new Date(Date.now() + 1_000));
      sizes.push(statSync(join(path, 'data.mdb')).size);
      await sleep(250);
    }
    // The first rounds fill it, later ones live on what was given back.
    expect(sizes.at(-1)!).toBeLessThanOrEqual(Math.max(...sizes.slice(0, 5)) * 1.5);
    expect(await collect(log.read('ingest.0', { limit: 10 }))).toEqual([]);
  });
});

describe('a clock that jumps', () => {
  function jumpy(): Clock & { jump(ms: number): void } {
    let offset = 0;
    return { now: () => Date.now() + offset, monotonic: () => performance.now(), jump: (ms) => void (offset += ms) };
  }
  const DAY = 86_400_000;

  test.each([
    ['a day ahead', DAY],
    ['a day back', -DAY],
  ])('%s: retries neither storm nor stall, order of times holds, ids stay known', async (_, jump) => {
    const clock = jumpy();
    const log = await open({ clock });
    await log.append([{ topic: 'events.a', records: records('a', 1) }]);
    const calls: number[] = [];
    const start = performance.now();
    log.consume('events.a', 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async ([delivery]) => {
      calls.push(performance.now() - start);
      if (delivery!.attempt === 1) {
        await delivery!.retryIn(1_000, undefined);
        clock.jump(jump);
      } else await delivery!.ack();
    });
    await until(() => calls.length === 2);
    expect(calls[1]! - calls[0]!).toBeGreaterThanOrEqual(995);
    await log.append([{ topic: 'events.a', records: records('a', 2) }]);
    const stored = await collect(log.read('events.a', { limit: 10 }));
    expect(stored.length).toBe(2);
    expect(stored[1]!.time).toBeGreaterThanOrEqual(stored[0]!.time);
    expect(stored[1]!.time - stored[0]!.time).toBeLessThan(DAY / 2);
  });

  test('a wait stored before the clock went back a day ends in time after a reopen', async () => {
    const clock = jumpy();
    const path = folder();
    let log = await openLmdbLog({ path, dedupWindowMs: 60_000, clock });
    await log.append([{ topic: 'events.a', records: records('a', 1) }]);
    let waiting = false;
    log.consume('events.a', 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async ([delivery]) => {
      await delivery!.retryIn(500, undefined);
      waiting = true;
    });
    await until(() => waiting);
    await log.close();
    clock.jump(-DAY);
    log = await openLmdbLog({ path, dedupWindowMs: 60_000, clock });
    onTestFinished(() => log.close());
    let attempt = 0;
    log.consume('events.a', 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10 }, async ([delivery]) => {
      attempt = delivery!.attempt;
      await delivery!.ack();
    });
    await until(() => attempt === 2);
    expect((await log.append([{ topic: 'events.a', records: records('a', 1) }]))[0]!.positions).toEqual([undefined]);
  });
});

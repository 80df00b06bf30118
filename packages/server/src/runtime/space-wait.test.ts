import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type AlertDeps, Evaluator } from '../roles/admin/alerts/evaluator.ts';
import { openLmdbLog } from '../stores/event-log/lmdb.ts';
import { LogUnavailable } from '../stores/event-log/port.ts';
import { SpaceWait } from './space-wait.ts';

const MINUTE = 60_000;

test('waits grow to a minute, and end at once where space was freed', () => {
  let [now, free] = [0, 100];
  const space = new SpaceWait(
    '/',
    () => now,
    () => free,
  );
  expect(space.isOver()).toBe(true);
  const waits = Array.from({ length: 12 }, () => {
    space.failed();
    const failed = now;
    while (!space.isOver()) now += 100;
    return now - failed;
  });
  expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, MINUTE, MINUTE, MINUTE]);
  space.failed();
  free -= 1;
  expect(space.isOver()).toBe(false);
  free += 2;
  expect(space.isOver()).toBe(true);
  space.succeeded();
  space.failed();
  now += 200;
  expect(space.isOver()).toBe(true);
});

describe('on a full disk', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('the log tries once a minute in the end (it tried four times a second, with two lines of LMDB each)', async () => {
    const path = mkdtempSync(join(tmpdir(), 'firsthand-space-'));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    const log = await openLmdbLog({ path, dedupWindowMs: MINUTE });
    const commit = vi.spyOn(log.environment, 'commit').mockImplementation(async () => {
      throw new LogUnavailable('full');
    });
    const append = () => log.append([{ topic: 'events.a', records: [{ id: 'a', data: Buffer.from('a') }] }]);
    await expect(append()).rejects.toThrow('full');
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    const tried = commit.mock.calls.length;
    // More than it would on a disk of its own: it also tries when other tests delete their files. It was 2,400 in ten minutes.
    expect(tried).toBeLessThan(100);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(commit.mock.calls.length - tried).toBeLessThan(100);
    vi.useRealTimers();
    await log.close();
  });

  test('alerts are evaluated once a minute in the end', async () => {
    const read = vi.fn(() => {
      throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    });
    const settings = { alertIntervalMs: 15_000, dataDir: tmpdir(), baseUrl: undefined, smtpUrl: undefined, smtpFrom: 'a@example.com' };
    const deps = { db: { selectFrom: read }, settings, logger: pino({ level: 'silent' }) };
    // It gets no further than the first query.
    const evaluator = new Evaluator(deps as unknown as AlertDeps);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    read.mockClear();
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    // Two queries begin a round.
    expect(read.mock.calls.length).toBeGreaterThan(0);
    expect(read.mock.calls.length).toBeLessThanOrEqual(20);
    await evaluator.stop();
  });
});

import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { StoredRecord } from '../stores/event-log/port.ts';
import { openObserve } from '../stores/observe/open.ts';
import { RowWriter } from './row-writer.ts';

const mount = mkdtempSync(join(tmpdir(), 'firsthand-full-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'firsthand', mount]).status === 0;

function fill(file: string): void {
  for (const size of [65_536, 512])
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
}

function aRecord(n: number): StoredRecord {
  const at = Date.parse('2026-01-01T00:00:00.000Z');
  const about = { at, org_id: 'org_1', pipeline_id: 'pl_1', event_id: `event-${n}`, type: 'track', event: 'x'.repeat(10_000) };
  const outcomes = [{ kind: 'processed', ...about, received_at: at, decisions: [] }];
  return { id: String(n), position: String(n).padStart(16, '0'), time: at, data: Buffer.from(JSON.stringify(outcomes)) };
}

test.skipIf(!isMounted)('a full disk is not written to again before its wait is over or space was freed', async () => {
  onTestFinished(() => {
    spawnSync('umount', ['-l', mount]);
    rmSync(mount, { recursive: true, force: true });
  });
  const observe = await openObserve({ dataDir: mount, onConnectionError: () => undefined });
  const rowWriter = new RowWriter({ databaseUrl: undefined, dataDir: mount, spanRatio: undefined }, () => undefined);
  onTestFinished(async () => void (await Promise.all([rowWriter.stop(), observe.close()])));
  const write = (n: number) =>
    rowWriter.record('outcomes', [aRecord(n)]).then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(await write(1)).toBeUndefined();
  fill(join(mount, 'ballast'));
  // Time stands still: the wait is never over.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  let full: unknown;
  for (let n = 2; full === undefined; n++) full = await write(n);
  expect(full).toMatchObject({ errcode: 13 });
  expect(await write(1_000)).toBe(full);
  unlinkSync(join(mount, 'ballast'));
  expect(await write(1_000)).toBeUndefined();
});

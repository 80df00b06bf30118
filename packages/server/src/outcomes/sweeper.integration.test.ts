import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { onBothEngines } from '../../test/servers/both-engines.ts';
import { eventRecordId } from '../event-record.ts';
import { collect, until } from '../stores/event-log/conformance/kit.ts';
import { openLmdbLog } from '../stores/event-log/lmdb.ts';
import { embeddedLeases } from '../stores/leases/embedded.ts';
import { listTraces } from '../stores/observe/list-traces.ts';
import { openObserve } from '../stores/observe/open.ts';
import { ERASURES_TOPIC, startEraser } from './erasures.ts';
import { RowWriter } from './row-writer.ts';

const INGEST = 'ingest.1';
const DAY_MS = 86_400_000;

onBothEngines('retention of a pipeline', (fresh) => {
  test.each([
    'before',
    'after',
  ] as const)('a kill %s the raw records are queued for removal leaves none of them (they stayed until EVENT_RETENTION)', async (killed) => {
    const databaseUrl = await fresh();
    const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-sweep-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    await fill(dataDir, databaseUrl, ['pl_short', 'pl_other']);

    expect(await runSweep(dataDir, databaseUrl, killed)).toBe('SIGKILL');
    expect(await runSweep(dataDir, databaseUrl, 'never')).toBe(null);

    const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 60_000 });
    const leases = embeddedLeases();
    const eraser = startEraser({ log, leases, rowWriter: { removeLetters: async () => {} }, logger: pino({ level: 'silent' }) });
    onTestFinished(async () => {
      await eraser.stop();
      await log.close();
    });
    await until(async () => (await log.groups(ERASURES_TOPIC)).length > 0 && (await log.lag(ERASURES_TOPIC, 'eraser')).waiting === 0);
    const left = await collect(log.read(INGEST, { limit: 100 }));
    expect(left.map(({ id }) => id)).toEqual(['pl_other:e0', 'pl_other:e1', 'pl_other:e2']);

    const observe = await openObserve({ databaseUrl, dataDir, onConnectionError: () => {} });
    onTestFinished(() => observe.close());
    const { rows } = await listTraces(observe, { org_id: 'org_1', limit: 10, offset: 0 });
    expect(rows.map(({ pipeline_id }) => pipeline_id)).toEqual(['pl_other', 'pl_other', 'pl_other']);
  });
});

/** Three events of two days ago for each pipeline, in the log and as traces. */
async function fill(dataDir: string, databaseUrl: string | undefined, pipelines: string[]): Promise<void> {
  const log = await openLmdbLog({ path: join(dataDir, 'log'), dedupWindowMs: 60_000 });
  await (await openObserve({ databaseUrl, dataDir, onConnectionError: () => {} })).close();
  const rowWriter = new RowWriter({ databaseUrl, dataDir, spanRatio: undefined }, () => undefined);
  const at = Date.now() - 2 * DAY_MS;
  const outcomes: Outcome[] = [];
  for (const pipeline_id of pipelines)
    for (const event_id of ['e0', 'e1', 'e2']) {
      const record = { id: eventRecordId(pipeline_id, event_id), data: Buffer.from('{}') };
      const [stored] = await log.append([{ topic: INGEST, records: [record] }]);
      const raw = { topic: INGEST, position: stored?.positions[0] ?? '' };
      outcomes.push({ kind: 'processed', at, org_id: 'org_1', pipeline_id, event_id, type: 'track', received_at: at, decisions: [], raw });
    }
  const data = Buffer.from(JSON.stringify(outcomes));
  await rowWriter.record('outcomes', [{ id: '1', position: '0000000000000001', time: at, data }]);
  await rowWriter.stop();
  await log.close();
}

/** Resolves with the signal that ended it. */
async function runSweep(dataDir: string, databaseUrl: string | undefined, killed: 'before' | 'after' | 'never'): Promise<string | null> {
  const args = [join(import.meta.dirname, 'testing/sweep-child.ts'), dataDir, databaseUrl ?? '', killed];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (signal === null && code !== 0) throw new Error(`the sweep ended with code ${code}`);
  return signal;
}

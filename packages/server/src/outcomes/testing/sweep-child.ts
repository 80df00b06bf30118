/**
 * A child process for crash tests: sweeps once, with a retention of one day for the pipeline `pl_short`. `node sweep-child.ts <data dir>
 * <database url or empty> <before|after|never>`: it is killed before or after the removal of the raw records is queued.
 */
import pino from 'pino';
import type { Snapshot } from '../../snapshot/types.ts';
import { openLmdbLog } from '../../stores/event-log/lmdb.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import { ERASURES_TOPIC } from '../erasures.ts';
import { RowWriter } from '../row-writer.ts';
import { sweep } from '../sweeper.ts';

const [dataDir, databaseUrl, killed] = process.argv.slice(2) as [string, string, 'before' | 'after' | 'never'];
const WEEK_MS = 7 * 86_400_000;

const log = await openLmdbLog({ path: `${dataDir}/log`, dedupWindowMs: 60_000 });
const rowWriter = new RowWriter({ databaseUrl: databaseUrl || undefined, dataDir, spanRatio: undefined }, () => undefined);
const mortal: Pick<EventLog, 'append'> = {
  async append(appends) {
    const queues = appends.some(({ topic }) => topic === ERASURES_TOPIC);
    if (queues && killed === 'before') process.kill(process.pid, 'SIGKILL');
    const stored = await log.append(appends);
    if (queues && killed === 'after') process.kill(process.pid, 'SIGKILL');
    return stored;
  },
};
const pipeline = { id: 'pl_short', org_id: 'org_1', retention_days: 1 };
await sweep({
  log: new Proxy(log, { get: (of, name) => (name === 'append' ? mortal.append : Reflect.get(of, name).bind(of)) }),
  snapshots: { current: () => ({ pipelines: new Map([[pipeline.id, { pipeline }]]) }) as unknown as Snapshot },
  rowWriter,
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  logger: pino({ level: 'silent' }),
  settings: { eventRetentionMs: WEEK_MS, deadLetterRetentionMs: WEEK_MS },
});
await rowWriter.stop();
await log.close();

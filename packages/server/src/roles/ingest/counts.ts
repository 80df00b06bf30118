/**
 * What the log does not show: refusals and duplicates, per pipeline, written to the outcomes about once a second and at a
 * stop. What was received is not counted here but by the recorder, from each event's own outcome: that number is exact
 * after a `kill -9` too, where counters in memory would be gone.
 */
import type { Outcome, RejectionCode } from '@firsthand/core/outcome/outcome.ts';
import { outcomeAppend } from '../../outcomes/outcome-log.ts';
import type { Clock } from '../../runtime/clock.ts';
import { randomText } from '../../runtime/ids.ts';
import type { Logger } from '../../runtime/logger.ts';
import { WorkInterval } from '../../runtime/work-interval.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import { RetriedAppends } from './retried-appends.ts';

const FLUSH_MS = 1_000;

export interface CountSummary {
  accepted: number;
  duplicates: number;
  rejected: Partial<Record<RejectionCode, number>>;
}
interface Pending {
  org_id: string;
  pipeline_id: string;
  webhook_source_id: string | undefined;
  duplicates: number;
  rejected: Partial<Record<RejectionCode, number>>;
}
export interface Counts {
  accepted(events: number, duplicates: number, orgId: string, pipelineId: string): void;
  rejected(code: RejectionCode, about: { orgId: string; pipelineId: string; webhookSourceId?: string } | undefined, events?: number): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export function createCounts(
  log: Pick<EventLog, 'append' | 'atomic'>,
  clock: Clock,
  logger: Pick<Logger, 'warn'>,
  onCounts?: (summary: CountSummary) => void,
): Counts {
  const run = randomText(16);
  let sequence = 0;
  let pending = new Map<string, Pending>();
  let summary: CountSummary = { accepted: 0, duplicates: 0, rejected: {} };
  let changed = false;
  const appends = new RetriedAppends(log);

  function pendingOf(orgId: string, pipelineId: string, webhookSourceId?: string): Pending {
    const key = webhookSourceId ?? pipelineId;
    let entry = pending.get(key);
    if (entry === undefined) {
      entry = { org_id: orgId, pipeline_id: pipelineId, webhook_source_id: webhookSourceId, duplicates: 0, rejected: {} };
      pending.set(key, entry);
    }
    return entry;
  }
  /** Writes run one at a time, so waiting for the last one waits for all. */
  let writing: Promise<void> = Promise.resolve();
  function flush(): Promise<void> {
    writing = writing.then(write);
    return writing;
  }
  async function write(): Promise<void> {
    if (changed) {
      onCounts?.(summary);
      summary = { accepted: 0, duplicates: 0, rejected: {} };
      changed = false;
    }
    if (pending.size > 0) {
      const at = clock.now();
      const outcomes = [...pending.values()].map(
        ({ webhook_source_id, ...rest }): Outcome => ({
          kind: 'ingest_counts',
          at,
          received: 0,
          ...rest,
          ...(webhook_source_id === undefined ? {} : { webhook_source_id }),
        }),
      );
      pending = new Map();
      appends.push(outcomeAppend(log, run, `ingest_counts/${run}/${sequence++}`, outcomes));
    }
    try {
      await appends.write();
    } catch (error) {
      logger.warn({ err: error, waiting: appends.waiting }, 'ingest counts not written, retrying');
    }
  }

  const flushes = new WorkInterval(FLUSH_MS, () => {
    const had = changed || appends.waiting > 0;
    void flush();
    return had;
  });
  return {
    accepted(events, duplicates, orgId, pipelineId) {
      summary.accepted += events - duplicates;
      changed = true;
      flushes.wake();
      if (duplicates === 0) return;
      summary.duplicates += duplicates;
      pendingOf(orgId, pipelineId).duplicates += duplicates;
    },
    rejected(code, about, events = 1) {
      changed = true;
      flushes.wake();
      summary.rejected[code] = (summary.rejected[code] ?? 0) + events;
      if (about === undefined) return;
      const { rejected } = pendingOf(about.orgId, about.pipelineId, about.webhookSourceId);
      rejected[code] = (rejected[code] ?? 0) + events;
    },
    flush,
    async stop() {
      flushes.stop();
      await flush();
    },
  };
}

/** Replays in steps, so that the page can show progress and stop in between. What was sent cannot be called back; the rest stays as it is. */
import { api, call } from '../../api.ts';
import type { Which } from './search.ts';

export interface ReplayJob {
  /** What is sent, for the title: `18 events of Meta`. */
  what: string;
  /** Whether it can use the latest revision instead of the pinned one. */
  choosesRevision: boolean;
  /** How many a run would send. */
  estimate(): Promise<number>;
  /** Calls `onSent` after each step; ends early once the signal is aborted. */
  run(onSent: (count: number) => void, signal: AbortSignal, revision: Revision): Promise<void>;
}
export type Revision = 'pinned' | 'latest';
const STEP = 200;

const replay = async (which: Which, use_revision: Revision, more: { dry_run?: boolean; limit?: number }) =>
  // The API takes one owner; the narrowest says it all.
  (await call(api.POST('/v1/admin/dlq/replay', { body: { ...narrowest(which), use_revision, ...more } }))).replayed;
function narrowest({ integration_id, webhook_source_id, pipeline_id, ...rest }: Which): Which {
  if (integration_id !== undefined) return { ...rest, integration_id };
  if (webhook_source_id !== undefined) return { ...rest, webhook_source_id };
  return pipeline_id === undefined ? rest : { ...rest, pipeline_id };
}

/** Every pending dead letter of the filters; each must name an owner. */
export function filterJob(what: string, filters: readonly Which[]): ReplayJob {
  return {
    what,
    choosesRevision: true,
    async estimate() {
      let total = 0;
      for (const which of filters) total += await replay(which, 'pinned', { dry_run: true });
      return total;
    },
    async run(onSent, signal, revision) {
      for (const which of filters)
        while (!signal.aborted) {
          const sent = await replay(which, revision, { limit: STEP });
          onSent(sent);
          if (sent < STEP) break;
        }
    },
  };
}

/** Dead letters one by one; the first that is refused ends the job with the API's words. */
export function lettersJob(what: string, ids: readonly string[]): ReplayJob {
  return {
    what,
    choosesRevision: false,
    estimate: async () => ids.length,
    async run(onSent, signal) {
      for (const id of ids) {
        if (signal.aborted) return;
        const { replayed } = await call(api.POST('/v1/admin/dlq/{id}/replay', { params: { path: { id } } }));
        onSent(replayed);
      }
    },
  };
}

export interface History {
  pipeline_id: string;
  integration_id: string;
  /** Milliseconds since 1970, both inclusive. */
  from: number;
  to: number;
  event_names: readonly string[];
}
const SLICES = 20;
/** Retained events of a time, in slices of it. */
export function historyJob(what: string, { pipeline_id, integration_id, from, to, event_names }: History): ReplayJob {
  const send = async (first: number, last: number, dry_run: boolean) =>
    (
      await call(
        api.POST('/v1/admin/pipelines/{id}/integrations/{integration_id}/replay', {
          params: { path: { id: pipeline_id, integration_id } },
          body: {
            from: new Date(first).toISOString(),
            to: new Date(last).toISOString(),
            dry_run,
            ...(event_names.length === 0 ? {} : { event_names: [...event_names] }),
          },
        }),
      )
    ).replayed;
  return {
    what,
    choosesRevision: false,
    estimate: () => send(from, to, true),
    async run(onSent, signal) {
      const length = Math.max(1, Math.ceil((to - from + 1) / SLICES));
      for (let first = from; first <= to && !signal.aborted; first += length)
        onSent(await send(first, Math.min(to, first + length - 1), false));
    },
  };
}

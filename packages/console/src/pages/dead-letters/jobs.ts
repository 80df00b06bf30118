/** Replays in steps, so that the page can show progress and stop in between. What was sent cannot be called back; the rest stays as it is. */
import { api, call } from '../../api.ts';
import { patiently } from './patience.ts';
import { filterOf, type Which } from './search.ts';

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

interface Replay {
  which: Which;
  use_revision: Revision;
  /** Of dead letters up to then. */
  to?: string;
  dry_run?: boolean;
  limit?: number;
}
export interface ReplayCalls {
  /** `at`: the service's clock when it answered. */
  replay(replay: Replay): Promise<{ replayed: number; at: number }>;
  replayOne(id: string): Promise<number>;
}
const CALLS: ReplayCalls = {
  async replay({ which, ...more }) {
    // The API takes one owner; the narrowest says it all.
    const answer = api.POST('/v1/admin/dlq/replay', { body: { ...filterOf(narrowest(which)), ...more } });
    const { replayed } = await call(answer);
    return { replayed, at: Date.parse((await answer).response.headers.get('date') ?? '') || Date.now() };
  },
  replayOne: async (id) => (await call(api.POST('/v1/admin/dlq/{id}/replay', { params: { path: { id } } }))).replayed,
};
function narrowest({ integration_id, webhook_source_id, pipeline_id, ...rest }: Which): Which {
  if (integration_id !== undefined) return { ...rest, integration_id };
  if (webhook_source_id !== undefined) return { ...rest, webhook_source_id };
  return pipeline_id === undefined ? rest : { ...rest, pipeline_id };
}

/** Every pending dead letter of the filters, which are read with the estimate; each must name an owner. */
export function filterJob(what: string, read: () => Promise<readonly Which[]>, { replay }: ReplayCalls = CALLS): ReplayJob {
  let filters: readonly Which[] = [];
  /** When each filter was counted. What fails again becomes a newer dead letter, and is not sent once more by the same run. */
  const countedAt = new Map<Which, number>();
  return {
    what,
    choosesRevision: true,
    async estimate() {
      let total = 0;
      filters = await read();
      for (const which of filters) {
        const { replayed, at } = await replay({ which, use_revision: 'pinned', dry_run: true });
        total += replayed;
        countedAt.set(which, at);
      }
      return total;
    },
    async run(onSent, signal, revision) {
      for (const which of filters)
        while (!signal.aborted) {
          const counted = new Date(countedAt.get(which) ?? Date.now()).toISOString();
          const { to: last = counted } = filterOf(which);
          const to = last < counted ? last : counted;
          const answer = await patiently(() => replay({ which, use_revision: revision, limit: STEP, to }), signal);
          onSent(answer?.replayed ?? 0);
          if ((answer?.replayed ?? 0) < STEP) break;
        }
    },
  };
}

/** Dead letters one by one; the first that is refused ends the job with the API's words. */
export function lettersJob(what: string, ids: readonly string[], { replayOne }: ReplayCalls = CALLS): ReplayJob {
  return {
    what,
    choosesRevision: false,
    estimate: async () => ids.length,
    async run(onSent, signal) {
      for (const id of ids) {
        if (signal.aborted) return;
        onSent((await patiently(() => replayOne(id), signal)) ?? 0);
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
        onSent((await patiently(() => send(first, Math.min(to, first + length - 1), false), signal)) ?? 0);
    },
  };
}

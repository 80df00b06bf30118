/**
 * Lists events, newest first. Conditions that an index answers are asked at once. For the others the list is searched in windows, for a
 * bounded time: the page then has fewer events, and its cursor continues the search. On SQLite all of it runs in the read thread: a search
 * reads thousands of rows.
 */
import { turns } from '../../runtime/turns.ts';
import { keyOf } from './keys.ts';
import { reasonAndAnswer, type TraceEventRow, type TraceStepRow, UNTRACED } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { type NewestTraces, newestTraces, orAll, receivedSince, tracesBetween } from './segment-choice.ts';
import { allTraces } from './segments.ts';
import { MINUTE } from './stats.ts';
import {
  idIn,
  idOf,
  inOrganisation,
  LISTED_COLUMNS,
  type ListedTrace,
  leadingOf,
  numbers,
  selectSteps,
  selectTraces,
  type TraceCondition,
  type TraceCursor,
} from './traces.ts';

export interface TraceFilter extends TraceCondition {
  /** Why the event was dropped or failed, as a whole or at an integration. */
  reason?: string;
  /**
   * The last step of the event at an integration (any, or `integration_id`) is this one. `waiting`: there is no step yet, or another attempt
   * or result is to come. `failed`: any step is a failed attempt, also where a later one succeeded.
   */
  delivery?: TraceStepRow['kind'] | 'not_delivered' | 'waiting' | 'failed';
  /**
   * The integrations of each pipeline, and when each was added: events that have no step at an integration are its own since then. Needed for
   * `waiting`, and for what was dropped before an integration.
   */
  assigned?: ReadonlyMap<string, readonly { id: string; since: number }[]>;
  integration_id?: string;
  /** The outcomes that `status`, `delivery` and `reason` ask for came in this time: any of them, also where a later one followed. */
  outcome?: { from?: number; to?: number };
  /** Only events after this one in the order of the list. */
  after?: TraceCursor;
  limit: number;
  offset: number;
}
export interface TracePage {
  rows: ListedTrace[];
  /** The last step of each of these events at each integration. */
  steps: LastStep[];
  /** Left out if `after` is given: the first page has it. */
  total?: number;
  /** There are more than `total`. */
  atLeast: boolean;
  /** With `outcome`: how many such outcomes the counted events have. The statistics count these. */
  outcomes?: number;
  /** Where the next page begins. Undefined at the end of the list. */
  next?: TraceCursor;
}
export type LastStep = Pick<TraceStepRow, 'pipeline_id' | 'event_id' | 'integration_id' | 'kind' | 'reason'>;

/** Counting stops here: an exact number of millions would cost seconds. */
const MOST_COUNTED = 10_000;
const SEARCH_MS = 1_000;
/** After the page is full, the search continues this long for the total. */
const COUNT_MS = 25;
const WINDOW = 5_000;
/** Smaller where the steps of every event are read. */
const STEP_WINDOW = 1_000;
/** Clocks of two processes may differ by this much: an outcome that seems to come before its event. */
const SKEW_MS = 60_000;

export async function listTraces(observe: ObserveDb, wanted: TraceFilter): Promise<TracePage> {
  const { engine, thread } = observe;
  if (engine === 'sqlite' && thread !== undefined) return await thread.call('listTraces', [wanted]);
  const page = await listEvents(observe, wanted);
  return { ...page, steps: await lastSteps(observe, wanted.org_id, page.rows) };
}

async function lastSteps(observe: ObserveDb, orgId: string, events: readonly ListedTrace[]): Promise<LastStep[]> {
  const steps = await selectSteps(observe, orgId, events, (query) =>
    query.select(['pipeline_id', 'event_id', 'integration_id', 'at', 'kind', 'reason']).execute(),
  );
  const last = new Map<string, LastStep>();
  for (const { at: _at, ...step } of steps.sort((a, b) => Number(a.at) - Number(b.at)))
    last.set(`${idOf(step)} ${step.integration_id}`, { ...step, reason: reasonAndAnswer(step).reason });
  return [...last.values()];
}

type ListedEvents = Omit<TracePage, 'steps'>;

async function listEvents(observe: ObserveDb, wanted: TraceFilter): Promise<ListedEvents> {
  const received = wanted.processed_from === undefined ? undefined : await receivedSince(observe, wanted.processed_from);
  if (received === Number.POSITIVE_INFINITY || wanted.processed_from === Number.POSITIVE_INFINITY)
    return { rows: [], ...(wanted.after === undefined && { total: 0 }), atLeast: false };
  const until = wanted.outcome?.to === undefined ? undefined : wanted.outcome.to + SKEW_MS;
  const filter = {
    ...wanted,
    ...(received !== undefined && { from: Math.max(received, wanted.from ?? received) }),
    ...(until !== undefined && { to: Math.min(until, wanted.to ?? until) }),
  };
  const { org_id, from, to, after: _after, limit: _limit, offset: _offset, assigned: _assigned, ...conditions } = filter;
  const leading = leadingOf(observe, filter);
  const scope: TraceCondition = {
    org_id,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    [leading]: filter[leading],
  };
  const others = Object.entries(conditions).filter(([name, value]) => name !== leading && value !== undefined);
  return others.length > 0 ? await search(observe, filter, scope) : await page(observe, filter);
}

async function page(observe: ObserveDb, { after, limit, offset, ...scope }: TraceFilter): Promise<ListedEvents> {
  const rows = await newestOf(observe, scope, { ...(after && { after }), limit }, (query) =>
    query
      .select(LISTED_COLUMNS)
      .limit(limit)
      .offset(after === undefined ? offset : 0)
      .execute(),
  );
  const last = rows.length < limit ? undefined : rows.at(-1);
  const listed = { rows: rows.map(numbers), ...(last && { next: placeOf(last) }) };
  if (after !== undefined) return { ...listed, atLeast: false };
  // No count is needed when the page is not full, unless it is empty and not the first.
  if (rows.length < limit && (rows.length > 0 || offset === 0)) return { ...listed, total: offset + rows.length, atLeast: false };
  const counted = await countUpTo(observe, scope, MOST_COUNTED + 1);
  const seen = rows.length > 0 ? offset + rows.length : 0;
  return { ...listed, total: Math.max(Math.min(counted, MOST_COUNTED), seen), atLeast: counted > MOST_COUNTED };
}

async function countUpTo(observe: ObserveDb, scope: TraceCondition, most: number): Promise<number> {
  let counted = 0;
  for await (const { source } of partsOf(observe, scope)) {
    const { n } = await orAll(source, allTraces(observe.engine), (some) =>
      observe.db
        .selectFrom(selectTraces(observe, scope, { source: some, counting: true }).select('org_id').limit(most).as('counted'))
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow(),
    );
    counted = Number(n);
    if (counted >= most) break;
  }
  return counted;
}

/** `limit` rows from as few segments as have the newest that meet the conditions. `rowsIn` reads them, in the order of the list. */
async function newestOf<R extends Pick<TraceEventRow, 'received_at'>>(
  observe: ObserveDb,
  scope: TraceCondition,
  { after, limit }: Pick<TraceFilter, 'after' | 'limit'>,
  rowsIn: (query: ReturnType<typeof inOrder>) => Promise<R[]>,
): Promise<R[]> {
  const to = Math.min(scope.to ?? Number.POSITIVE_INFINITY, after?.received_at ?? Number.POSITIVE_INFINITY);
  const all = allTraces(observe.engine);
  const ask = (source: typeof all) => orAll(source, all, (some) => rowsIn(inOrder(observe, scope, after, some)));
  let rows: R[] = [];
  for await (const { source, rest } of partsOf(observe, { ...scope, to })) {
    rows = await ask(source);
    if (rows.length === limit && Number(rows.at(-1)?.received_at) > rest) break;
  }
  return rows;
}
/** Of all events: the segments to ask first, then more, then all. */
async function* partsOf(observe: ObserveDb, scope: TraceCondition): AsyncGenerator<NewestTraces> {
  const leading = leadingOf(observe, scope);
  const value = scope[leading];
  const key = value === undefined || leading === 'org_id' || leading === 'pipeline_id' ? undefined : keyOf(value);
  // One person's events may be anywhere: asking all segments at once is cheaper than in parts.
  if (!['user_id', 'anonymous_id'].includes(leading)) yield* newestTraces(observe, scope, key);
  else yield { source: await tracesBetween(observe, scope, key), rest: Number.NEGATIVE_INFINITY };
}
function inOrder(observe: ObserveDb, scope: TraceCondition, after: TraceCursor | undefined, source: 'trace_events') {
  return selectTraces(observe, scope, { ...(after && { after }), source })
    .orderBy('received_at', 'desc')
    .orderBy('event_id', 'desc');
}

type Match = Pick<TraceEventRow, 'pipeline_id' | 'event_id' | 'received_at'> & {
  /** With `outcome`. */
  outcomes?: number;
};

/** `scope`: the conditions that the index answers. The list is read in its windows. */
async function search(observe: ObserveDb, filter: TraceFilter, scope: TraceCondition): Promise<ListedEvents> {
  const { limit, after } = filter;
  const skipped = after === undefined ? filter.offset : 0;
  const started = performance.now();
  const matches: Match[] = [];
  let from = after;
  let ended = false;
  for (;;) {
    const window = await searchWindow(observe, filter, scope, from);
    matches.push(...window.matches);
    if (window.edge === undefined) ended = true;
    else from = window.edge;
    const spent = performance.now() - started;
    const full = matches.length >= skipped + limit;
    if (ended || matches.length >= MOST_COUNTED || spent > (full ? COUNT_MS : SEARCH_MS)) break;
    // SQLite answers at once: without a turn, other reads would wait for the whole search.
    await turns.bulk();
  }
  const wanted = matches.slice(skipped, skipped + limit);
  const last = wanted.length < limit ? undefined : wanted.at(-1);
  const next = last !== undefined ? placeOf(last) : ended ? undefined : from;
  const total = Math.min(matches.length, MOST_COUNTED);
  return {
    rows: await rowsOf(observe, filter.org_id, wanted),
    ...(after === undefined && { total }),
    ...(after === undefined && filter.outcome && { outcomes: outcomesOf(matches) }),
    atLeast: after === undefined && (!ended || matches.length > MOST_COUNTED),
    ...(next && { next }),
  };
}

const outcomesOf = (matches: readonly Match[]) => matches.slice(0, MOST_COUNTED).reduce((sum, { outcomes = 0 }) => sum + outcomes, 0);

/** `edge`: the last event of the window; undefined where the list ends in it. */
async function searchWindow(
  observe: ObserveDb,
  filter: TraceFilter,
  scope: TraceCondition,
  after: TraceCursor | undefined,
): Promise<{ matches: Match[]; edge: TraceCursor | undefined }> {
  const { reason, delivery, integration_id, outcome } = filter;
  const bySteps = delivery !== undefined || integration_id !== undefined || reason !== undefined;
  const [edge] = await newestOf(observe, scope, { ...(after && { after }), limit: 1 }, (query) =>
    query
      .select(['received_at', 'event_id'])
      .limit(1)
      .offset((bySteps ? STEP_WINDOW : WINDOW) - 1)
      .execute(),
  );
  const through = edge && placeOf(edge);
  const received = { from: through?.received_at ?? filter.from, to: after?.received_at ?? filter.to };
  const found = await orAll(await tracesBetween(observe, received), allTraces(observe.engine), (source) =>
    selectTraces(observe, filter, { ...(after && { after }), ...(through && { through }), source })
      .select(['pipeline_id', 'event_id', 'received_at', 'processed_at', 'result', 'reason'])
      .execute(),
  );
  found.sort((a, b) => b.received_at - a.received_at || (a.event_id < b.event_id ? 1 : -1));
  if (found.length === 0) return { matches: found, edge: through };
  if (!bySteps && outcome === undefined) return { matches: found, edge: through };
  const steps = bySteps ? await searchedSteps(observe, filter, found) : new Map<string, SearchedStep[]>();
  if (outcome !== undefined) {
    const matches = found.map((row) => ({ ...row, outcomes: countOutcomes(filter, outcome, row, steps.get(idOf(row)) ?? []) }));
    return { matches: matches.filter(({ outcomes }) => outcomes > 0), edge: through };
  }
  return { matches: found.filter((row) => matchesSteps(filter, row, steps.get(idOf(row)) ?? [])), edge: through };
}

type SearchedStep = Pick<TraceStepRow, 'integration_id' | 'at' | 'kind' | 'reason'>;

async function searchedSteps(observe: ObserveDb, filter: TraceFilter, events: readonly Match[]): Promise<Map<string, SearchedStep[]>> {
  const { org_id, integration_id, reason } = filter;
  const steps = await selectSteps(observe, org_id, events, (query) => {
    // A reason may be that of another integration.
    const wanted = integration_id === undefined || reason !== undefined ? query : query.where('integration_id', '=', integration_id);
    return wanted.select(['pipeline_id', 'event_id', 'integration_id', 'at', 'kind', 'reason']).execute();
  });
  return Map.groupBy(
    steps.map((step) => ({ ...step, at: Number(step.at) })),
    idOf,
  );
}

type Ended = Pick<TraceEventRow, 'pipeline_id' | 'processed_at' | 'result' | 'reason'>;

/** How many outcomes of an event the statistics count in this time, under the other conditions. */
function countOutcomes(filter: TraceFilter, { from, to }: NonNullable<TraceFilter['outcome']>, row: Ended, steps: SearchedStep[]): number {
  const { reason, delivery, integration_id } = filter;
  const isDue = (at: number) => at >= (from ?? Number.NEGATIVE_INFINITY) && at <= (to ?? Number.POSITIVE_INFINITY);
  const ofEvent = () => {
    if (!isDue(Number(row.processed_at)) || (reason !== undefined && row.reason !== reason)) return false;
    if (delivery === undefined) return integration_id === undefined && (reason !== undefined || filter.status !== undefined);
    if (delivery === 'failed') return integration_id === undefined && row.result === 'dead_lettered';
    return delivery === 'dropped' && isDroppedBeforeRouting(filter, row);
  };
  const isCounted = (step: SearchedStep) =>
    isDue(step.at) &&
    (integration_id === undefined || step.integration_id === integration_id) &&
    (delivery === undefined ? reason !== undefined : delivery === 'failed' ? FAILED.includes(step.kind) : step.kind === delivery) &&
    (reason === undefined || reasonAndAnswer(step).reason === reason);
  return steps.filter(isCounted).length + (ofEvent() ? 1 : 0);
}
/** It has no steps then. For an integration it counts from the minute in which that was added, as in the statistics. */
function isDroppedBeforeRouting({ integration_id, assigned }: TraceFilter, row: Ended): boolean {
  if (row.result !== 'dropped') return false;
  if (integration_id === undefined) return true;
  const added = assigned?.get(row.pipeline_id)?.find(({ id }) => id === integration_id)?.since ?? Number.POSITIVE_INFINITY;
  return Math.floor(added / MINUTE) <= Math.floor(Number(row.processed_at) / MINUTE);
}

function matchesSteps(filter: TraceFilter, row: Ended, steps: SearchedStep[]): boolean {
  const { reason, delivery, integration_id, assigned } = filter;
  if (reason !== undefined && row.reason !== reason && !steps.some((step) => reasonAndAnswer(step).reason === reason)) return false;
  if (delivery === undefined && integration_id === undefined) return true;
  if (delivery === 'dropped' && row.result === 'dropped') return isDroppedBeforeRouting(filter, row);
  if (delivery === 'failed')
    return (
      (integration_id === undefined && row.result === 'dead_lettered') ||
      steps.some((step) => FAILED.includes(step.kind) && (integration_id === undefined || step.integration_id === integration_id))
    );
  const last = new Map<string, number>();
  for (const step of steps) last.set(step.integration_id, Math.max(step.at, last.get(step.integration_id) ?? 0));
  if (delivery === 'waiting' && row.result === 'processed' && row.reason !== UNTRACED) {
    const due = assigned?.get(row.pipeline_id) ?? [];
    const isDue = ({ id, since }: { id: string; since: number }) =>
      !last.has(id) && since <= Number(row.processed_at) && (integration_id === undefined || id === integration_id);
    if (due.some(isDue)) return true;
  }
  return steps.some(
    (step) =>
      step.at === last.get(step.integration_id) &&
      (integration_id === undefined || step.integration_id === integration_id) &&
      (delivery === undefined || fits(step.kind, delivery)),
  );
}

const FAILED: readonly TraceStepRow['kind'][] = ['retrying', 'dead_lettered'];

function fits(kind: TraceStepRow['kind'], delivery: NonNullable<TraceFilter['delivery']>): boolean {
  if (delivery === 'not_delivered') return kind !== 'delivered';
  if (delivery === 'waiting') return kind === 'retrying' || kind === 'accepted_by_vendor';
  return kind === delivery;
}

/** The whole rows, in the order given. */
async function rowsOf(observe: ObserveDb, orgId: string, wanted: readonly Match[]): Promise<ListedTrace[]> {
  if (wanted.length === 0) return [];
  const ids = [...new Set(wanted.map(({ event_id }) => event_id))];
  const { db, engine } = observe;
  const times = wanted.map(({ received_at }) => received_at);
  const chosen = await tracesBetween(observe, { from: Math.min(...times), to: Math.max(...times) });
  const found = await orAll(chosen, allTraces(engine), (source) =>
    db
      .selectFrom(source)
      .select(LISTED_COLUMNS)
      .where(inOrganisation(engine, orgId))
      .where(idIn(engine, 'event', ids))
      .execute(),
  );
  const byPlace = new Map(found.map(numbers).map((row) => [`${idOf(row)} ${row.received_at}`, row]));
  return wanted.flatMap((match) => byPlace.get(`${idOf(match)} ${match.received_at}`) ?? []);
}

const placeOf = ({ received_at, event_id }: TraceCursor): TraceCursor => ({ received_at: Number(received_at), event_id });

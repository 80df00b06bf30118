/**
 * Lists events, newest first. Conditions that an index answers are asked at once. For the others the list is searched in windows, for a
 * bounded time: the page then has fewer events, and its cursor continues the search. On SQLite all of it runs in the read thread: a search
 * reads thousands of rows.
 */
import { turns } from '../../runtime/turns.ts';
import { allTraces } from './all-traces.ts';
import { keyOf } from './keys.ts';
import { type CountedOutcomes, countOutcomes, matchesSteps, type OutcomeFilter, type SearchedStep } from './outcome-filter.ts';
import { keyOfEvent, reasonAndAnswer, type TraceEventRow, type TraceStepRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { type NewestTraces, newestTraces, orAll, receivedSince, tracesBetween } from './segment-choice.ts';
import { storedIds } from './stored-text.ts';
import {
  idIn,
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

export interface TraceFilter extends OutcomeFilter {
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
  const page = await listEvents(observe, { ...wanted, ...storedIds(wanted) });
  return { ...page, steps: await lastSteps(observe, wanted.org_id, page.rows) };
}

async function lastSteps(observe: ObserveDb, orgId: string, events: readonly ListedTrace[]): Promise<LastStep[]> {
  const steps = await selectSteps(observe, orgId, events, (query) =>
    query.select(['pipeline_id', 'event_id', 'integration_id', 'at', 'kind', 'reason']).execute(),
  );
  const last = new Map<string, LastStep>();
  for (const { at: _at, ...step } of steps.sort((a, b) => Number(a.at) - Number(b.at)))
    last.set(`${keyOfEvent(step)} ${step.integration_id}`, { ...step, reason: reasonAndAnswer(step).reason });
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
  outcomes?: CountedOutcomes;
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

/** Two events of the same id share their steps. */
function outcomesOf(matches: readonly Match[]): number {
  const ofSteps = new Map<string, number>();
  let sum = 0;
  for (const { outcomes, ...match } of matches.slice(0, MOST_COUNTED)) {
    sum += outcomes?.ofEvent ?? 0;
    ofSteps.set(keyOfEvent(match), outcomes?.ofSteps ?? 0);
  }
  return ofSteps.values().reduce((all, steps) => all + steps, sum);
}

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
    const matches = found.map((row) => ({ ...row, outcomes: countOutcomes(filter, outcome, row, steps.get(keyOfEvent(row)) ?? []) }));
    return { matches: matches.filter(({ outcomes: { ofEvent, ofSteps } }) => ofEvent + ofSteps > 0), edge: through };
  }
  return { matches: found.filter((row) => matchesSteps(filter, row, steps.get(keyOfEvent(row)) ?? [])), edge: through };
}

async function searchedSteps(observe: ObserveDb, filter: TraceFilter, events: readonly Match[]): Promise<Map<string, SearchedStep[]>> {
  const { org_id, integration_id, reason } = filter;
  const steps = await selectSteps(observe, org_id, events, (query) => {
    // A reason may be that of another integration.
    const wanted = integration_id === undefined || reason !== undefined ? query : query.where('integration_id', '=', integration_id);
    return wanted.select(['pipeline_id', 'event_id', 'integration_id', 'at', 'kind', 'reason']).execute();
  });
  return Map.groupBy(
    steps.map((step) => ({ ...step, at: Number(step.at) })),
    keyOfEvent,
  );
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
  const byPlace = new Map(found.map(numbers).map((row) => [`${keyOfEvent(row)} ${row.received_at}`, row]));
  return wanted.flatMap((match) => byPlace.get(`${keyOfEvent(match)} ${match.received_at}`) ?? []);
}

const placeOf = ({ received_at, event_id }: TraceCursor): TraceCursor => ({ received_at: Number(received_at), event_id });

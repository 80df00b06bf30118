/** Every retained event, live or past, with its result at each integration; the selected one explains itself in a side panel. */
import { Alert, Button, Group } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { api, call, RefusedError } from '../../api.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { Page } from '../../components/page.tsx';
import { RangeSelect } from '../../components/range-select.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { usePipelineNames } from '../../names.ts';
import { pipelinesQuery } from '../../queries.ts';
import { EventPanel } from './event-panel.tsx';
import { EventTable } from './event-table.tsx';
import classes from './events.module.css';
import { Filters } from './filters.tsx';
import { useLiveEvents } from './live-events.ts';
import type { LiveRow } from './live-rows.ts';
import { mergeLive, type Row, rowKey, rowOf } from './rows.ts';
import { canBeLive, type EventsSearch, FILTERS, type FilterName, NOTHING_SELECTED, queryOf, scopeOf } from './search.ts';
import { useIntegrations } from './use-integrations.ts';

const PAGE_SIZE = 100;
/** An event is listed once its trace is written. */
const LISTED_AFTER_MS = 3_000;
/** Where the newest rows are looked up, see `mergeLive`. */
const NEWEST = 3_000;

const NONE: readonly LiveRow[] = [];

export function EventsPage() {
  const search = useSearch({ strict: false }) as EventsSearch;
  const navigate = useNavigate();
  const queries = useQueryClient();
  /** `replace`: Back goes to where the reader was before, not to each step on the way. */
  const setSearch = useCallback(
    (next: Partial<Record<keyof EventsSearch, string | undefined>>, replace = false) =>
      void navigate({ to: '/events', search: (old: EventsSearch) => ({ ...old, ...next }), replace } as never),
    [navigate],
  );
  const liveIsPossible = canBeLive(search);
  const isLive = liveIsPossible && search.live !== 'off';
  const pipelines = useQuery(pipelinesQuery());
  const filters = FILTERS.map((name) => search[name]);
  const filtered = filters.some((value) => value !== undefined);
  const past = useInfiniteQuery({
    queryKey: ['events', ...filters],
    initialPageParam: '',
    queryFn: async ({ pageParam: cursor }) => {
      const { events, total, outcomes, total_is_estimate, next_cursor } = await call(
        api.GET('/v1/admin/events', {
          params: { query: { limit: PAGE_SIZE, ...queryOf(search), ...(cursor === '' ? {} : { cursor }) } },
        }),
      );
      return { rows: events.map(rowOf), total, outcomes, isMore: total_is_estimate === true, next_cursor };
    },
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // New events come over the live connection; reading every page again would ask hundreds of times.
    staleTime: Infinity,
    gcTime: 0,
    structuralSharing: false,
  });
  const { rows: live, gap, close, leaveOpen, restart } = useLiveEvents(isLive, scopeOf(search));
  const listed = useGrowingList(past.data?.pages);
  const known = useRef(listed);
  known.current = listed;
  const { isSuccess } = past;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of `search` that matters here starts another gap
  useEffect(() => {
    if (gap?.why !== 'away' || !isSuccess) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      try {
        const { events } = await call(api.GET('/v1/admin/events', { params: { query: { limit: PAGE_SIZE, ...queryOf(search) } } }));
        if (isOver) return;
        const newest = events.map(rowOf);
        const keys = new Set(known.current.slice(0, NEWEST).map(rowKey));
        if (newest.length < PAGE_SIZE || newest.some((row) => keys.has(rowKey(row)))) close(newest);
        else leaveOpen();
      } catch {
        if (!isOver) leaveOpen(); // the notice offers to read the list again, and shows what is wrong then
      }
    }, LISTED_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [gap, isSuccess, close, leaveOpen]);
  async function readAnew() {
    await queries.resetQueries({ queryKey: ['events', ...filters] });
    restart();
  }
  // `listed` grows in place: its length says that it changed.
  // Live rows know nothing of most filters: with one of those only the list of the API is right.
  const shownLive = liveIsPossible ? live : NONE;
  const rows = useMemo<Row[]>(() => (shownLive.length === 0 ? listed : mergeLive(shownLive, listed)), [shownLive, listed, listed.length]);
  const seen = useSeenPipelines(live, listed);
  const names = usePipelineNames(seen);
  const integrations = useIntegrations(seen);
  const hasMany = (pipelines.data?.total ?? 0) > 1;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, errorUpdateCount } = past;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const waitS = isFetchNextPageError && past.error instanceof RefusedError ? past.error.retryAfterS : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each refusal starts the wait anew
  useEffect(() => {
    if (waitS === undefined) return;
    const timer = setTimeout(() => void fetchNextPage(), waitS * 1_000);
    return () => clearTimeout(timer);
  }, [waitS, errorUpdateCount, fetchNextPage]);
  // Back closes the panel, however many events were looked at in it.
  const isOpen = search.selected !== undefined;
  const onSelect = useCallback(
    ({ event_id, pipeline_id }: Row) => setSearch({ selected: event_id, selected_in: pipeline_id, request: undefined }, isOpen),
    [setSearch, isOpen],
  );
  const clear = () => setSearch(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  function setFilter(name: FilterName, value: string | undefined) {
    setSearch({ [name]: value, ...(name === 'pipeline' ? { integration: undefined, source: undefined } : {}) });
  }
  // A search without a result yet continues by itself: there is no list to scroll to its end.
  const isSearching = rows.length === 0 && hasNextPage && !past.isError;
  useEffect(() => {
    if (isSearching) onEnd();
  }, [isSearching, onEnd]);
  const counted = past.data?.pages[0];
  // New rows are not in the count of the list.
  const total = counted?.total === undefined ? undefined : counted.total + rows.length - listed.length;
  return (
    <Page
      title="Events"
      about={
        total === undefined
          ? ' '
          : `${number(total)}${counted?.isMore ? '+' : ''} ${filtered ? 'match' : 'retained'}${resultsOf(counted)}${isLive ? ', new ones appear as they arrive' : ''}`
      }
      actions={
        <>
          <RangeSelect all="All retained" />
          {liveIsPossible ? (
            <Button variant="default" onClick={() => setSearch({ live: isLive ? 'off' : undefined }, true)}>
              {isLive ? 'Pause' : 'Go live'}
            </Button>
          ) : (
            <Button variant="default" loading={past.isFetching} onClick={() => void readAnew()}>
              Refresh
            </Button>
          )}
        </>
      }
    >
      <Filters search={search} hasManyPipelines={hasMany} onChange={setFilter} onClear={clear} />
      {gap?.why === 'many' && isLive && (
        <Alert color="yellow" mb="sm" role="status">
          <Group gap="sm">
            <span>Some events came without appearing here.</span>
            <Button variant="default" loading={past.isFetching} onClick={() => void readAnew()}>
              Read the list again
            </Button>
          </Group>
        </Alert>
      )}
      {past.isPending || isSearching ? (
        <Loading what="events" />
      ) : past.isError && listed.length === 0 ? (
        <Failed error={past.error} retry={() => void past.refetch()} />
      ) : (
        // The panel does not depend on the list: a shared link may name an event that the filters leave out, or a very new one.
        <div className={classes.split} data-open={search.selected !== undefined}>
          {rows.length === 0 ? (
            <Empty
              title="No events here"
              action={
                filtered ? (
                  <Button variant="default" onClick={clear}>
                    Clear the filters
                  </Button>
                ) : (
                  <SendEvents pipelines={pipelines.data?.pipelines ?? []} />
                )
              }
            >
              {filtered
                ? 'No retained event matches these filters.'
                : 'Send a first event with the snippet of a pipeline; it appears here at once.'}
            </Empty>
          ) : (
            <EventTable
              rows={rows}
              pipelines={hasMany ? names : undefined}
              integrations={integrations}
              selected={search.selected === undefined ? undefined : { event_id: search.selected, pipeline_id: search.selected_in }}
              onSelect={onSelect}
              onEnd={onEnd}
              end={
                isFetchNextPageError && (
                  <Group className={classes.end} gap="sm" role="alert">
                    <span>
                      Older events could not be read: {failureText(past.error)}
                      {waitS !== undefined && ` It is tried again in ${waitS} s.`}
                    </span>
                    <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                      Try again
                    </Button>
                  </Group>
                )
              }
            />
          )}
          {search.selected !== undefined && (
            <EventPanel
              key={`${search.selected_in} ${search.selected}`}
              eventId={search.selected}
              pipelineId={search.selected_in}
              view={search.view}
              request={search.request}
              onView={setSearch}
              onClose={() => setSearch(NOTHING_SELECTED)}
            />
          )}
        </div>
      )}
    </Page>
  );
}

/** The pipelines of all rows, in the order in which they appeared. The same list until there is a new one. */
function useSeenPipelines(...lists: (readonly Row[])[]): readonly string[] {
  const seen = useRef<{ lists: WeakMap<object, number>; ids: readonly string[] }>({ lists: new WeakMap(), ids: [] });
  const { lists: read, ids } = seen.current;
  const found = new Set(ids);
  for (const list of lists) {
    // Lists grow at their end: rows that were checked are not checked again.
    for (let at = read.get(list) ?? 0; at < list.length; at++) found.add(list[at]?.pipeline_id ?? '');
    read.set(list, list.length);
  }
  if (found.size > ids.length) seen.current = { lists: read, ids: [...found] };
  return seen.current.ids;
}

/**
 * The rows of all pages. It grows in place: a new list of 100,000 rows for every page of 100 would keep the browser busy collecting the old
 * ones. Other filters start another list.
 */
function useGrowingList(pages: readonly { rows: Row[] }[] | undefined): Row[] {
  const grown = useRef<{ first: object | undefined; pages: number; rows: Row[] }>({ first: undefined, pages: 0, rows: [] });
  if (grown.current.first !== pages?.[0]) grown.current = { first: pages?.[0], pages: 0, rows: [] };
  const list = grown.current;
  for (const { rows } of pages?.slice(list.pages) ?? []) for (const row of rows) list.rows.push(row);
  list.pages = pages?.length ?? 0;
  return list.rows;
}

/** To the snippets of the only pipeline, or to the list to choose one from. */
function SendEvents({ pipelines }: { pipelines: readonly { id: string }[] }) {
  const [only, ...more] = pipelines;
  const target =
    only === undefined || more.length > 0
      ? { to: '/pipelines' }
      : { to: '/pipelines/$pipelineId', params: { pipelineId: only.id }, search: { snippet: 'html' } };
  return (
    <LinkButton variant="filled" {...target}>
      {only === undefined ? 'Create a pipeline' : more.length > 0 ? 'Choose a pipeline' : 'Send events …'}
    </LinkButton>
  );
}

/** Where an event has several of the results that are asked for: the statistics count each. */
function resultsOf(counted: { total: number | undefined; outcomes: number | undefined } | undefined): string {
  const { total, outcomes } = counted ?? {};
  return outcomes === undefined || outcomes === total ? '' : `, with ${number(outcomes)} results`;
}

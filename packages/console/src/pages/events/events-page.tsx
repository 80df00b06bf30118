/** Every retained event, live or past, with its verdict at each integration; the selected one explains itself in a side panel. */
import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { number } from '../../format.ts';
import { pipelinesQuery } from '../../queries.ts';
import { EventPanel } from './event-panel.tsx';
import { EventTable } from './event-table.tsx';
import classes from './events.module.css';
import { mergeLive, type Row, rowOf, useLiveEvents } from './live-events.ts';

const PAGE_SIZE = 100;

export interface EventsSearch {
  pipeline?: string;
  event?: string;
  user?: string;
  selected?: string;
  live?: string;
}

export function EventsPage() {
  const search = useSearch({ strict: false }) as EventsSearch;
  const navigate = useNavigate();
  const setSearch = (next: Partial<Record<keyof EventsSearch, string | undefined>>) =>
    void navigate({ to: '/events', search: (old: EventsSearch) => ({ ...old, ...next }), replace: true } as never);
  const isLive = search.live !== 'off';
  const pipelines = useQuery(pipelinesQuery());
  const past = useInfiniteQuery({
    queryKey: ['events', search.pipeline, search.event, search.user],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/admin/events', {
          params: {
            query: {
              limit: PAGE_SIZE,
              offset: pageParam,
              ...(search.pipeline === undefined ? {} : { pipeline_id: search.pipeline }),
              ...(search.event === undefined ? {} : { event: search.event }),
              ...(search.user === undefined ? {} : { user_id: search.user }),
            },
          },
        }),
      ),
    getNextPageParam: (last, pages) => (last.events.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE),
  });
  const live = useLiveEvents(isLive, { pipeline: search.pipeline, event: search.event });
  const rows = useMemo<Row[]>(() => mergeLive(live, past.data?.pages.flatMap((page) => page.events.map(rowOf)) ?? []), [live, past.data]);
  const names = useMemo(() => new Map(pipelines.data?.pipelines.map(({ id, name }) => [id, name])), [pipelines.data]);

  return (
    <Page
      title="Events"
      about={
        past.data === undefined
          ? undefined
          : `${number(past.data.pages[0]?.total ?? 0)} retained${isLive ? ', new ones appear as they arrive' : ''}`
      }
      actions={
        <Button variant="default" onClick={() => setSearch({ live: isLive ? 'off' : undefined })}>
          {isLive ? 'Pause' : 'Go live'}
        </Button>
      }
    >
      <Group gap="xs" mb="sm">
        <Select
          size="xs"
          w={180}
          aria-label="Pipeline"
          placeholder="All pipelines"
          clearable
          value={search.pipeline ?? null}
          data={pipelines.data?.pipelines.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          onChange={(next) => setSearch({ pipeline: next ?? undefined })}
        />
        <FilterText label="Event" placeholder="Event name, or @page" value={search.event} onChange={(event) => setSearch({ event })} />
        <FilterText label="User" placeholder="User id" value={search.user} onChange={(user) => setSearch({ user })} />
      </Group>
      {past.isPending ? (
        <Loading what="events" />
      ) : past.isError ? (
        <Failed error={past.error} retry={() => void past.refetch()} />
      ) : (
        // The panel does not depend on the list: a shared link may name an event that the filters leave out, or a very new one.
        <div className={classes.split} data-open={search.selected !== undefined}>
          {rows.length === 0 ? (
            <Empty title="No events here">
              {search.event || search.user || search.pipeline
                ? 'No retained event matches these filters.'
                : 'Send a first event with the snippet of a pipeline; it appears here at once.'}
            </Empty>
          ) : (
            <EventTable
              rows={rows}
              names={names}
              selected={search.selected}
              onSelect={(selected) => setSearch({ selected })}
              onEnd={() => past.hasNextPage && !past.isFetchingNextPage && void past.fetchNextPage()}
            />
          )}
          {search.selected !== undefined && <EventPanel eventId={search.selected} onClose={() => setSearch({ selected: undefined })} />}
        </div>
      )}
    </Page>
  );
}

function FilterText({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (next: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(value ?? '');
  const later = useDebouncedCallback((text: string) => onChange(text.trim() === '' ? undefined : text.trim()), 300);
  return (
    <TextInput
      size="xs"
      w={180}
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
    />
  );
}

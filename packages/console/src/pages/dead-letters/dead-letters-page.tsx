/** What failed for good, by cause; inspect one, replay one, some, a cause or a filter; replay history. */
import { Button, Group, SegmentedControl, Select, Tabs } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { RangeSelect } from '../../components/range-select.tsx';
import { readReason } from '../../components/read-reason.ts';
import { IntegrationSelect, PipelineSelect } from '../../components/server-select.tsx';
import { Empty, Failed, Loading, Outdated } from '../../components/states.tsx';
import { duration, number } from '../../format.ts';
import { useSourceNames } from '../../names.ts';
import { nextOffset } from '../../next-offset.ts';
import { installationQuery } from '../../queries.ts';
import { Groups, searchOf } from './groups.tsx';
import { HistoryReplay } from './history.tsx';
import { filterJob, lettersJob, type ReplayJob } from './jobs.ts';
import { Letter } from './letter.tsx';
import { Letters } from './letters.tsx';
import { ReplayModal } from './replay.tsx';
import { ACCEPTED, type DeadLettersSearch, filterOf, STAGES, STATUSES, statusOf, type Which, whichOf } from './search.ts';

const CAUSES = 50;
const readGroups = (which: Which, offset: number) =>
  call(api.GET('/v1/admin/dlq/groups', { params: { query: { ...filterOf(which), limit: CAUSES, offset } } }));

export function DeadLettersPage() {
  const search = useSearch({ strict: false }) as DeadLettersSearch;
  const navigate = useNavigate();
  const setSearch = (next: Partial<Record<keyof DeadLettersSearch, string | undefined>>) =>
    void navigate({ to: '/dead-letters', search: (old: DeadLettersSearch) => ({ ...old, ...next }), replace: true } as never);
  const [job, setJob] = useState<ReplayJob>();
  const installation = useQuery({ ...installationQuery(), staleTime: Infinity });
  const kept = installation.data === undefined ? '' : `They are kept for ${duration(installation.data.retention.dead_letters_s)}.`;
  const which = whichOf(search);
  /** A chosen cause stays among the others. */
  const { reason: _reason, stage: _stage, ...wide } = which;
  const groups = useInfiniteQuery({
    queryKey: ['dead-letter-groups', 'paged', wide],
    initialPageParam: 0,
    queryFn: ({ pageParam }) => readGroups(wide, pageParam),
    getNextPageParam: (last) => nextOffset(last, last.groups),
    // Every loaded page is read again: the more there are, the less often.
    refetchInterval: ({ state }) => 30_000 * (state.data?.pages.length ?? 1),
  });
  const causes = groups.data?.pages.flatMap((page) => page.groups) ?? [];
  const total = groups.data?.pages[0]?.total ?? 0;
  const waiting = useQuery({
    queryKey: ['dead-letter-count', wide],
    queryFn: async () =>
      (await call(api.GET('/v1/admin/dlq', { params: { query: { ...filterOf(wide), status: 'pending', limit: 1 } } }))).total,
    refetchInterval: 30_000,
  });
  const sourceNames = useSourceNames(search.source === undefined ? [] : [search.source]);
  /** Without an owner in the filter, each pipeline that has dead letters is asked in turn. */
  async function filtersOfAll(): Promise<Which[]> {
    if (which.pipeline_id !== undefined || which.integration_id !== undefined || which.webhook_source_id !== undefined) return [which];
    const all = await allPages(async (offset) => {
      const page = await readGroups(wide, offset);
      return { ...page, rows: page.groups };
    });
    return [...new Set(all.map(({ pipeline_id }) => pipeline_id))].map((pipeline_id) => ({ ...which, pipeline_id }));
  }
  return (
    <Page
      title="Dead letters"
      about={waiting.data === undefined ? ' ' : `${number(waiting.data)} waiting to be replayed. ${kept}`}
      actions={search.tab !== 'history' && <RangeSelect all="All kept" />}
    >
      <Tabs
        value={search.tab === 'history' ? 'history' : 'letters'}
        onChange={(tab) => setSearch({ tab: tab === 'history' ? tab : undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="letters">Dead letters</Tabs.Tab>
          <Tabs.Tab value="history">Replay past events</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="history">
          <HistoryReplay search={search} setSearch={setSearch} onReplay={setJob} />
        </Tabs.Panel>
        <Tabs.Panel value="letters">
          <Group gap="xs" mb="sm" className="filters">
            <PipelineSelect
              size="xs"
              w={170}
              aria-label="Pipeline"
              placeholder="All pipelines"
              clearable
              value={search.pipeline ?? null}
              onChange={(pipeline) => setSearch({ pipeline: pipeline ?? undefined, integration: undefined, source: undefined })}
            />
            <IntegrationSelect
              size="xs"
              w={190}
              aria-label="Integration"
              placeholder="All integrations"
              clearable
              pipelineId={search.pipeline}
              value={search.integration ?? null}
              onChange={(integration) => setSearch({ integration: integration ?? undefined })}
            />
            <Select
              size="xs"
              w={150}
              aria-label="Stage"
              placeholder="All stages"
              clearable
              value={search.stage ?? null}
              data={[{ value: ACCEPTED, label: 'accepted events' }, ...STAGES]}
              onChange={(stage) => setSearch({ stage: stage ?? undefined })}
            />
            {search.source !== undefined && (
              <Button variant="light" onClick={() => setSearch({ source: undefined })} maw={320}>
                Source: {sourceNames.get(search.source) ?? search.source} ×
              </Button>
            )}
            {search.reason !== undefined && (
              <Button variant="light" onClick={() => setSearch({ reason: undefined })} maw={320}>
                Reason: {readReason(search.reason).message} ×
              </Button>
            )}
            <SegmentedControl
              aria-label="State"
              value={statusOf(search)}
              data={STATUSES.map((value) => ({ value, label: `${value.charAt(0).toUpperCase()}${value.slice(1)}` }))}
              onChange={(status) => setSearch({ status: status === 'pending' ? undefined : status })}
            />
          </Group>
          {groups.isRefetchError && <Outdated what="The causes" error={groups.error} retry={() => void groups.refetch()} />}
          {groups.isPending ? (
            <Loading what="dead letters" />
          ) : groups.isLoadingError ? (
            <Failed error={groups.error} retry={() => void groups.refetch()} />
          ) : causes.length === 0 ? (
            <Empty
              title={search.range === undefined ? 'Nothing failed for good' : 'Nothing failed for good in this time'}
              action={
                Object.keys(wide).length > 0 ? (
                  <Button variant="default" onClick={() => void navigate({ to: '/dead-letters' })}>
                    Clear the filters
                  </Button>
                ) : (
                  <LinkButton to="/events">See the events</LinkButton>
                )
              }
            >
              Events that a vendor refuses, or that fail in processing, are listed here. {kept}
            </Empty>
          ) : (
            <div style={{ marginBottom: 16 }}>
              <Groups
                groups={causes}
                chosen={which}
                search={search}
                onReplay={(cause, where) =>
                  setJob(filterJob(`${number(cause.pending)} of ${where}`, async () => [whichOf(searchOf(cause, search))]))
                }
              />
              <MoreButton shown={causes.length} total={total} query={groups} />
            </div>
          )}
          {/* Whatever happens to the lists around it: an event may be half corrected in it. */}
          {search.selected !== undefined && (
            <div style={{ marginBottom: 16 }}>
              <Letter
                key={search.selected}
                id={search.selected}
                onClose={() => setSearch({ selected: undefined })}
                onReplay={() => setJob(lettersJob('one dead letter', [search.selected ?? '']))}
              />
            </div>
          )}
          {causes.length > 0 && (
            <Letters
              search={search}
              kept={kept}
              onReplay={(ids) => setJob(lettersJob(`${number(ids.length)} chosen dead letters`, ids))}
              onReplayAll={() => setJob(filterJob('all dead letters that match', filtersOfAll))}
            />
          )}
        </Tabs.Panel>
      </Tabs>
      <ReplayModal job={job} onClose={() => setJob(undefined)} />
    </Page>
  );
}

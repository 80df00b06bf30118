/** What failed for good, by cause; inspect one, replay one, some, a cause or a filter; replay history. */
import { Button, Group, SegmentedControl, Select, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Page } from '../../components/page.tsx';
import { readReason } from '../../components/read-reason.ts';
import { Empty, Failed, Loading, Outdated } from '../../components/states.tsx';
import { duration, number } from '../../format.ts';
import { installationQuery, pipelinesQuery } from '../../queries.ts';
import { useIntegrations } from '../events/use-integrations.ts';
import { type Group as Cause, Groups, searchOf } from './groups.tsx';
import { HistoryReplay } from './history.tsx';
import { filterJob, lettersJob, type ReplayJob } from './jobs.ts';
import { Letter } from './letter.tsx';
import { Letters } from './letters.tsx';
import { ReplayModal } from './replay.tsx';
import { type DeadLettersSearch, STAGES, type Which, whichOf } from './search.ts';

export function DeadLettersPage() {
  const search = useSearch({ strict: false }) as DeadLettersSearch;
  const navigate = useNavigate();
  const setSearch = (next: Partial<Record<keyof DeadLettersSearch, string | undefined>>) =>
    void navigate({ to: '/dead-letters', search: (old: DeadLettersSearch) => ({ ...old, ...next }), replace: true } as never);
  const [job, setJob] = useState<ReplayJob>();
  const pipelines = useQuery(pipelinesQuery());
  const installation = useQuery({ ...installationQuery(), staleTime: Infinity });
  const kept = installation.data === undefined ? '' : `They are kept for ${duration(installation.data.retention.dead_letters_s)}.`;
  const which = whichOf(search);
  const { reason: _reason, stage: _stage, ...owner } = which;
  const groups = useQuery({
    queryKey: ['dead-letter-groups', owner],
    queryFn: () => call(api.GET('/v1/admin/dlq/groups', { params: { query: { ...owner, limit: 100 } } })),
    refetchInterval: 30_000,
  });
  const integrations = useIntegrations(pipelines.data?.pipelines.map(({ id }) => id) ?? []);
  const names = useMemo(
    () => new Map([...(pipelines.data?.pipelines ?? []), ...[...integrations.values()].flat()].map(({ id, name }) => [id, name])),
    [pipelines.data, integrations],
  );
  const nameOf = (cause: Cause): string => names.get(cause.integration_id ?? cause.pipeline_id) ?? cause.vendor ?? cause.stage;
  const pending = groups.data?.groups.reduce((sum, group) => sum + group.pending, 0);
  /** Without an owner in the filter, each owner that has dead letters is asked in turn. */
  function replayAll() {
    const hasOwner = which.integration_id ?? which.webhook_source_id ?? which.pipeline_id;
    const owners = [...new Set((groups.data?.groups ?? []).map(({ pipeline_id }) => pipeline_id))];
    const filters: Which[] = hasOwner === undefined ? owners.map((pipeline_id) => ({ ...which, pipeline_id })) : [which];
    setJob(
      filterJob(
        hasOwner === undefined ? 'all dead letters that match' : `dead letters of ${names.get(hasOwner) ?? 'this filter'}`,
        filters,
      ),
    );
  }
  return (
    <Page
      title="Dead letters"
      about={pending === undefined ? ' ' : `${number(pending)} ${pending === 1 ? 'waits' : 'wait'} to be replayed. ${kept}`}
    >
      <Tabs
        value={search.tab === 'history' ? 'history' : 'letters'}
        onChange={(tab) => setSearch({ tab: tab === 'history' ? tab : undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="letters">Dead letters</Tabs.Tab>
          <Tabs.Tab value="history">Replay history</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="history">
          <HistoryReplay onReplay={setJob} />
        </Tabs.Panel>
        <Tabs.Panel value="letters">
          <Group gap="xs" mb="sm">
            <Select
              size="xs"
              w={170}
              aria-label="Pipeline"
              placeholder="All pipelines"
              clearable
              value={search.pipeline ?? null}
              data={pipelines.data?.pipelines.map(({ id, name }) => ({ value: id, label: name })) ?? []}
              onChange={(pipeline) => setSearch({ pipeline: pipeline ?? undefined, integration: undefined })}
            />
            <Select
              size="xs"
              w={190}
              aria-label="Integration"
              placeholder="All integrations"
              clearable
              value={search.integration ?? null}
              data={[...integrations.values()].flat().map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(integration) => setSearch({ integration: integration ?? undefined })}
            />
            <Select
              size="xs"
              w={130}
              aria-label="Stage"
              placeholder="All stages"
              clearable
              value={search.stage ?? null}
              data={[...STAGES]}
              onChange={(stage) => setSearch({ stage: stage ?? undefined })}
            />
            {search.reason !== undefined && (
              <Button variant="light" onClick={() => setSearch({ reason: undefined })} maw={320}>
                Reason: {readReason(search.reason).message} ×
              </Button>
            )}
            <SegmentedControl
              size="xs"
              aria-label="State"
              value={search.status === 'replayed' ? 'replayed' : 'pending'}
              data={['pending', 'replayed']}
              onChange={(status) => setSearch({ status: status === 'pending' ? undefined : status })}
            />
          </Group>
          {groups.isRefetchError && <Outdated what="The causes" error={groups.error} retry={() => void groups.refetch()} />}
          {groups.isPending ? (
            <Loading what="dead letters" />
          ) : groups.isLoadingError ? (
            <Failed error={groups.error} retry={() => void groups.refetch()} />
          ) : groups.data.groups.length === 0 ? (
            <Empty title="Nothing failed for good">Events that a vendor refuses, or that fail in processing, are listed here. {kept}</Empty>
          ) : (
            <Groups
              groups={groups.data.groups}
              names={names}
              chosen={which}
              onReplay={(cause) => setJob(filterJob(`${number(cause.pending)} of ${nameOf(cause)}`, [whichOf(searchOf(cause))]))}
            />
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
          {groups.data !== undefined && groups.data.groups.length > 0 && (
            <Letters
              search={search}
              names={names}
              kept={kept}
              onReplay={(ids) => setJob(lettersJob(`${number(ids.length)} chosen dead letters`, ids))}
              onReplayAll={replayAll}
            />
          )}
        </Tabs.Panel>
      </Tabs>
      <ReplayModal job={job} onClose={() => setJob(undefined)} />
    </Page>
  );
}

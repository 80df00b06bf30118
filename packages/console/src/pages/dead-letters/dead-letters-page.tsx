/** What failed for good, grouped by integration and reason; inspect one, replay one or a whole group, or throw one away. */
import { Button, CloseButton, Group, Select, Table, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf } from '../../components/tag.tsx';
import { dateTime, milliseconds, number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { pipelinesQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';

interface Search {
  pipeline?: string;
  integration?: string;
  stage?: string;
  selected?: string;
}
const STAGES = ['ingest', 'webhook', 'processing', 'mapping', 'delivery'];

export function DeadLettersPage() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const setSearch = (next: Partial<Record<keyof Search, string | undefined>>) =>
    void navigate({ to: '/dead-letters', search: (old: Search) => ({ ...old, ...next }), replace: true } as never);
  const pipelines = useQuery(pipelinesQuery());
  const filter = {
    ...(search.pipeline === undefined ? {} : { pipeline_id: search.pipeline }),
    ...(search.integration === undefined ? {} : { integration_id: search.integration }),
    ...(search.stage === undefined ? {} : { stage: search.stage as 'delivery' }),
  };
  const letters = useQuery({
    queryKey: ['dead-letters', filter],
    queryFn: () => call(api.GET('/v1/admin/dlq', { params: { query: { ...filter, limit: 100 } } })),
    refetchInterval: 30_000,
  });
  return (
    <Page
      title="Dead letters"
      about={letters.data && `${number(letters.data.total)} kept for seven days; a replay sends them again through the pinned revision`}
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
          onChange={(pipeline) => setSearch({ pipeline: pipeline ?? undefined, integration: undefined })}
        />
        <Select
          size="xs"
          w={150}
          aria-label="Stage"
          placeholder="All stages"
          clearable
          value={search.stage ?? null}
          data={STAGES}
          onChange={(stage) => setSearch({ stage: stage ?? undefined })}
        />
      </Group>
      {letters.isPending ? (
        <Loading what="dead letters" />
      ) : letters.isError ? (
        <Failed error={letters.error} retry={() => void letters.refetch()} />
      ) : letters.data.dead_letters.length === 0 ? (
        <Empty title="Nothing failed for good">
          Events that a vendor refuses, or that fail in processing, are kept here for seven days.
        </Empty>
      ) : (
        <>
          <Groups letters={letters.data.dead_letters} />
          <section className="panel" style={{ overflowX: 'auto' }} aria-label="Dead letters">
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Failed</Table.Th>
                  <Table.Th>Event</Table.Th>
                  <Table.Th>Stage</Table.Th>
                  <Table.Th>Vendor</Table.Th>
                  <Table.Th>Reason</Table.Th>
                  <Table.Th>State</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {letters.data.dead_letters.map(({ id, created_at, event_id, event, stage, vendor, reason, status }) => (
                  <Table.Tr key={id} {...(id === search.selected ? { bg: 'var(--accent-soft)' } : {})}>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>{dateTime(created_at)}</Table.Td>
                    <Table.Td>
                      <Link to="/dead-letters" search={{ ...search, selected: id } as never}>
                        <b>{nameOf(event) ?? event_id}</b>
                      </Link>
                    </Table.Td>
                    <Table.Td>{stage}</Table.Td>
                    <Table.Td>{vendor ?? '–'}</Table.Td>
                    <Table.Td style={{ maxWidth: 360 }}>{reason}</Table.Td>
                    <Table.Td>
                      <Tag tone={toneOf(status)}>{status}</Tag>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
          {search.selected !== undefined && <Letter id={search.selected} onClose={() => setSearch({ selected: undefined })} />}
        </>
      )}
    </Page>
  );
}
function nameOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const { event: name, type } = event as { event?: unknown; type?: unknown };
  return typeof name === 'string' ? name : typeof type === 'string' ? type : undefined;
}

interface LetterRow {
  integration_id: string | null;
  pipeline_id: string;
  vendor: string | null;
  stage: string;
  reason: string;
  status: string;
  created_at: string;
}
/** The same cause at the same integration is one row, with a button that replays them all. */
function Groups({ letters }: { letters: readonly LetterRow[] }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const groups = Map.groupBy(
    letters.filter(({ status, integration_id }) => status === 'pending' && integration_id !== null),
    ({ integration_id, reason }) => `${integration_id} ${reason}`,
  );
  const replay = useMutation({
    mutationFn: ({ integration_id, dry_run }: { integration_id: string; dry_run: boolean }) =>
      call(api.POST('/v1/admin/dlq/replay', { body: { integration_id, stage: 'delivery', dry_run } as never })) as Promise<{
        replayed: number;
      }>,
    onError: (error) => notifications.show({ color: 'red', title: 'Not replayed', message: failureText(error) }),
  });
  async function ask(integration_id: string, vendor: string) {
    const { replayed } = await replay.mutateAsync({ integration_id, dry_run: true });
    modals.openConfirmModal({
      title: `Replay ${number(replayed)} events to ${vendor}?`,
      children:
        'They are sent again through the pinned revision, at the integration’s own rate. What fails again becomes a dead letter again.',
      labels: { confirm: `Replay ${number(replayed)}`, cancel: 'Not now' },
      onConfirm: () =>
        replay.mutate(
          { integration_id, dry_run: false },
          {
            onSuccess: async (done) => {
              notifications.show({ message: `${number(done.replayed)} events are on their way.` });
              await queries.invalidateQueries({ queryKey: ['dead-letters'] });
            },
          },
        ),
    });
  }
  if (groups.size === 0) return null;
  return (
    <section className="panel" style={{ padding: 12, marginBottom: 16 }} aria-label="Causes">
      <Table withRowBorders={false}>
        <Table.Tbody>
          {[...groups].map(([key, members]) => {
            const [first] = members;
            if (first?.integration_id === null || first === undefined) return null;
            const integrationId = first.integration_id;
            return (
              <Table.Tr key={key}>
                <Table.Td w={60}>
                  <b style={{ color: 'var(--bad)' }}>{number(members.length)}</b>
                </Table.Td>
                <Table.Td>
                  <b>{first.vendor}</b> <span className="dim">{first.reason}</span>
                </Table.Td>
                <Table.Td ta="right">
                  <Button
                    variant="default"
                    disabled={!may}
                    title={may ? undefined : 'Needs the role editor'}
                    loading={replay.isPending}
                    onClick={() => void ask(integrationId, first.vendor ?? 'the vendor')}
                  >
                    Replay …
                  </Button>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Letter({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const letter = useQuery({
    queryKey: ['dead-letter', id],
    queryFn: () => call(api.GET('/v1/admin/dlq/{id}', { params: { path: { id } } })),
  });
  const replay = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/dlq/{id}/replay', { params: { path: { id } } })),
    onSuccess: async () => {
      notifications.show({ message: 'The event is on its way.' });
      await queries.invalidateQueries({ queryKey: ['dead-letters'] });
      await queries.invalidateQueries({ queryKey: ['dead-letter', id] });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not replayed', message: failureText(error) }),
  });
  return (
    <section className="panel" style={{ padding: 16, marginTop: 16 }} aria-label="Dead letter">
      {letter.isPending ? (
        <Loading what="the dead letter" />
      ) : letter.isError ? (
        <Failed error={letter.error} />
      ) : (
        <>
          <Group justify="space-between">
            <Title order={2}>{letter.data.reason}</Title>
            <Group gap="xs">
              <Button
                onClick={() => replay.mutate()}
                loading={replay.isPending}
                disabled={!may}
                title={may ? undefined : 'Needs the role editor'}
              >
                Replay this one
              </Button>
              <Button variant="default" component={Link} to="/events" search={{ selected: letter.data.event_id } as never}>
                What happened to it
              </Button>
              <CloseButton aria-label="Close" onClick={onClose} />
            </Group>
          </Group>
          {letter.data.attempts.length > 0 && (
            <Table my="sm" maw={640}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Attempt</Table.Th>
                  <Table.Th>Answer</Table.Th>
                  <Table.Th>Took</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {letter.data.attempts.map(({ at, status, error, duration_ms }) => (
                  <Table.Tr key={at}>
                    <Table.Td>{dateTime(at)}</Table.Td>
                    <Table.Td>
                      {status ?? 'none'} <span className="mono">{error}</span>
                    </Table.Td>
                    <Table.Td>{milliseconds(duration_ms)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
          <Json value={letter.data.event} label="The event" maxHeight={420} />
        </>
      )}
    </section>
  );
}

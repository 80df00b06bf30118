import { Button, Group, Modal, Table, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Page } from '../../components/page.tsx';
import { UserSelect } from '../../components/server-select.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime, number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { nextOffset } from '../../next-offset.ts';
import classes from './audit.module.css';

interface Entry {
  id: string;
  user_email: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  changes: Record<string, { old?: unknown; new?: unknown }>;
  ip_address: string | null;
  timestamp: string;
}
interface Filters {
  action?: string;
  resource?: string;
  user?: string;
}
const PAGE = 50;

export function AuditPage() {
  const { action, resource, user } = useSearch({ strict: false }) as Filters;
  const navigate = useNavigate();
  const [shown, setShown] = useState<Entry>();
  const setFilter = (name: keyof Filters, value: string) =>
    void navigate({
      to: '/audit',
      search: (old: Filters) => ({ ...old, [name]: value === '' ? undefined : value }),
    } as never);
  const entries = useInfiniteQuery({
    queryKey: ['audit', action, resource, user],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/admin/audit-logs', {
          params: {
            query: {
              limit: PAGE,
              offset: pageParam,
              ...(action === undefined ? {} : { action }),
              ...(resource === undefined ? {} : { resource_id: resource }),
              ...(user === undefined ? {} : { user_id: user }),
            },
          },
        }),
      ),
    getNextPageParam: (last) => nextOffset(last, last.audit_logs),
  });
  const verify = useMutation({
    mutationFn: () => call(api.GET('/v1/admin/audit-logs/verify', {})),
    onSuccess: ({ valid, checked, first_invalid_id }) =>
      notifications.show(
        valid
          ? { message: `The chain is whole: ${number(checked)} entries checked.` }
          : {
              color: 'red',
              title: 'The chain is broken',
              message: `First at ${first_invalid_id}. Somebody changed the log outside of the service.`,
              autoClose: false,
            },
      ),
    onError: (error) => notifications.show({ color: 'red', title: 'Not verified', message: failureText(error) }),
  });
  const rows = (entries.data?.pages.flatMap((page) => page.audit_logs) ?? []) as Entry[];
  return (
    <Page
      title="Audit"
      about="Every change, by whom and from where. Entries are chained: a changed or missing one is found."
      actions={
        <Button variant="default" onClick={() => verify.mutate()} loading={verify.isPending}>
          Verify the chain
        </Button>
      }
    >
      <Group gap="xs" mb="sm">
        <Filter name="action" label="Action" placeholder="Action, for example pipeline.updated" value={action} onChange={setFilter} />
        <Filter name="resource" label="Id of what was changed" placeholder="Id, for example pl_01…" value={resource} onChange={setFilter} />
        <UserSelect
          size="xs"
          w={220}
          aria-label="Who"
          placeholder="Anybody"
          clearable
          value={user ?? null}
          onChange={(next) => setFilter('user', next ?? '')}
        />
      </Group>
      {entries.isPending ? (
        <Loading what="the audit log" />
      ) : entries.isError ? (
        <Failed error={entries.error} retry={() => void entries.refetch()} />
      ) : rows.length === 0 ? (
        <Empty title="No entries" />
      ) : (
        <>
          <section className="panel" style={{ overflowX: 'auto' }}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Time</Table.Th>
                  <Table.Th visibleFrom="sm">Who</Table.Th>
                  <Table.Th>Action</Table.Th>
                  <Table.Th visibleFrom="sm">On</Table.Th>
                  <Table.Th visibleFrom="sm">Changed</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((entry) => (
                  <Table.Tr key={entry.id}>
                    <Table.Td className={classes.time}>
                      {dateTime(entry.timestamp)}
                      <span className={`${classes.small} dim`}>{entry.user_email ?? 'the command line'}</span>
                    </Table.Td>
                    <Table.Td visibleFrom="sm">{entry.user_email ?? 'the command line'}</Table.Td>
                    <Table.Td>
                      <Tag>{entry.action}</Tag>
                      <span className={classes.small}>
                        <Changes entry={entry} onShow={setShown} />
                      </span>
                    </Table.Td>
                    <Table.Td visibleFrom="sm" className="mono">
                      {entry.resource_id}
                    </Table.Td>
                    <Table.Td visibleFrom="sm">
                      <Changes entry={entry} onShow={setShown} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
          {entries.hasNextPage && (
            <Group justify="center" mt="sm">
              <Button variant="default" onClick={() => void entries.fetchNextPage()} loading={entries.isFetchingNextPage}>
                Older entries
              </Button>
            </Group>
          )}
        </>
      )}
      <Modal opened={shown !== undefined} onClose={() => setShown(undefined)} title={shown?.action} size="lg">
        {shown !== undefined && (
          <>
            <p className="dim">
              {dateTime(shown.timestamp)}, from {shown.ip_address ?? 'the command line'}
            </p>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Field</Table.Th>
                  <Table.Th>Before</Table.Th>
                  <Table.Th>After</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {Object.entries(shown.changes).map(([field, change]) => (
                  <Table.Tr key={field}>
                    <Table.Td>
                      <b>{field}</b>
                    </Table.Td>
                    <Table.Td className="mono" style={{ background: 'var(--bad-soft)', overflowWrap: 'anywhere' }}>
                      {JSON.stringify(change.old)}
                    </Table.Td>
                    <Table.Td className="mono" style={{ background: 'var(--accent-soft)', overflowWrap: 'anywhere' }}>
                      {JSON.stringify(change.new)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </>
        )}
      </Modal>
    </Page>
  );
}

/** The changed fields; opens what they were before and after. */
function Changes({ entry, onShow }: { entry: Entry; onShow: (entry: Entry) => void }) {
  const fields = Object.keys(entry.changes);
  if (fields.length === 0) return null;
  return (
    <button type="button" className={classes.changes} onClick={() => onShow(entry)}>
      {fields.join(', ')}
    </button>
  );
}

/** Applied with Enter and when the field is left. */
function Filter({
  name,
  label,
  placeholder,
  value = '',
  onChange,
}: {
  name: keyof Filters;
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (name: keyof Filters, value: string) => void;
}) {
  return (
    <TextInput
      key={value}
      size="xs"
      w={260}
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      onBlur={({ currentTarget }) => currentTarget.value.trim() !== value && onChange(name, currentTarget.value.trim())}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && onChange(name, currentTarget.value.trim())}
    />
  );
}

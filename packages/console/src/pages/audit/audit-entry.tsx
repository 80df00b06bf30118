/** One entry: who, from where, and each changed field before and after. Objects and long texts are compared line by line. */
import { Modal, Stack, Table, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { api, call } from '../../api.ts';
import { Failed, Loading } from '../../components/states.tsx';
import { dateTime } from '../../format.ts';
import classes from './audit.module.css';
import type { Entry } from './entry.ts';
import { Resource } from './resource.tsx';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));

export interface AuditEntryProps {
  /** Undefined: none is open. */
  id: string | undefined;
  /** The entry, where the list has it. */
  listed: Entry | undefined;
  onClose: () => void;
}
export function AuditEntry({ id, listed, onClose }: AuditEntryProps) {
  const query = useQuery({
    queryKey: ['audit-entry', id],
    enabled: id !== undefined && listed === undefined,
    queryFn: async () => (await call(api.GET('/v1/admin/audit-logs/{id}', { params: { path: { id: id ?? '' } } }))) as Entry,
    staleTime: Infinity,
  });
  const entry = listed ?? query.data;
  return (
    <Modal opened={id !== undefined} onClose={onClose} title={entry?.action ?? 'Audit entry'} size="xl">
      {entry !== undefined ? (
        <Changed entry={entry} />
      ) : query.isError ? (
        <Failed error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Loading what="the entry" />
      )}
    </Modal>
  );
}

function Changed({ entry }: { entry: Entry }) {
  const changes = Object.entries(entry.changes);
  const long = changes.filter(([, { old, new: now }]) => isLong(old) || isLong(now));
  const short = changes.filter((change) => !long.includes(change));
  return (
    <Stack gap="md">
      <p className="dim">
        {dateTime(entry.timestamp)}, {entry.user_email ?? 'the command line'}
        {entry.ip_address !== null && `, from ${entry.ip_address}`}
        {entry.resource_id !== null && (
          <>
            , on{' '}
            <span className="mono">
              <Resource entry={entry} />
            </span>
          </>
        )}
      </p>
      {short.length > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {short.map(([field, change]) => (
              <Table.Tr key={field}>
                <Table.Td>
                  <b>{field}</b>
                </Table.Td>
                <Table.Td className={`mono ${change.old === undefined ? '' : classes.before}`}>{JSON.stringify(change.old)}</Table.Td>
                <Table.Td className={`mono ${change.new === undefined ? '' : classes.after}`}>{JSON.stringify(change.new)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {long.map(([field, { old, new: now }]) => (
        <section key={field} aria-label={field}>
          <Title order={3} mb={4}>
            {field}
          </Title>
          <Suspense fallback={<Loading what="the comparison" />}>
            <SideBySide left={textOf(old)} right={textOf(now)} />
          </Suspense>
        </section>
      ))}
    </Stack>
  );
}
const LONG = 80;
const isLong = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && Object.keys(value).length > 0) ||
  (typeof value === 'string' && (value.length > LONG || value.includes('\n')));
const textOf = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2));

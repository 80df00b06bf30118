/** Every revision with its summary, and any two of them side by side; the draft counts as one. */
import { Group, Select, Stack, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Failed, Loading } from '../../components/states.tsx';
import { dateTime } from '../../format.ts';
import type { Config } from './draft.ts';
import { revisionsQuery } from './templates.ts';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));
const DRAFT = 'draft';

export function History({ templateId, draft, current }: { templateId: string; draft: Config; current: number }) {
  const revisions = useQuery(revisionsQuery(templateId));
  const [left, setLeft] = useState<string>(String(current));
  const [right, setRight] = useState<string>(DRAFT);
  if (revisions.isPending) return <Loading what="the history" />;
  if (revisions.isLoadingError) return <Failed error={revisions.error} retry={() => void revisions.refetch()} />;
  const list = revisions.data.revisions;
  const choices = [
    { value: DRAFT, label: 'Your draft' },
    ...list.map(({ revision_number: n }) => ({ value: String(n), label: `Revision ${n}` })),
  ];
  const textOf = (key: string): string =>
    JSON.stringify(key === DRAFT ? draft : list.find(({ revision_number: n }) => String(n) === key)?.config, null, 2);
  return (
    <Stack gap="md">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Revision</Table.Th>
            <Table.Th>Summary</Table.Th>
            <Table.Th>Saved</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {list.map(({ revision_number: n, change_summary, created_at }) => (
            <Table.Tr key={n}>
              <Table.Td>
                <Link to="/templates/$templateId" params={{ templateId }} search={{ revision: String(n) }}>
                  {n}
                </Link>
              </Table.Td>
              <Table.Td>{change_summary}</Table.Td>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{dateTime(created_at)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group grow>
        <Select label="Compare" allowDeselect={false} data={choices} value={left} onChange={(next) => setLeft(next ?? left)} />
        <Select label="with" allowDeselect={false} data={choices} value={right} onChange={(next) => setRight(next ?? right)} />
      </Group>
      <Suspense fallback={<Loading what="the comparison" />}>
        <SideBySide left={textOf(left)} right={textOf(right)} />
      </Suspense>
    </Stack>
  );
}

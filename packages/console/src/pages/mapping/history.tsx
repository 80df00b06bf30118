/** Every revision with its summary, and any two of them side by side; the draft counts as one. The address holds which two. */
import { Box, Group, Select, Stack, Table } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { MoreButton } from '../../components/more-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { dateTime } from '../../format.ts';
import type { Config } from './draft.ts';
import { revisionQuery, revisionsQuery } from './templates.ts';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));
export const DRAFT = 'draft';

export interface HistoryProps {
  templateId: string;
  draft: Config;
  /** The two that are compared, `3,draft`. */
  compare: string;
  setCompare: (compare: string) => void;
}
export function History({ templateId, draft, compare, setCompare }: HistoryProps) {
  const revisions = useInfiniteQuery(revisionsQuery(templateId));
  const [left = DRAFT, right = DRAFT] = compare.split(',');
  const [leftConfig, rightConfig] = [useConfig(templateId, left, draft), useConfig(templateId, right, draft)];
  if (revisions.isPending) return <Loading what="the history" />;
  if (revisions.isLoadingError) return <Failed error={revisions.error} retry={() => void revisions.refetch()} />;
  const list = revisions.data.pages.flatMap((page) => page.revisions);
  const total = revisions.data.pages[0]?.total ?? 0;
  // Those that are compared may be older than the list.
  const numbers = new Set([...list.map(({ revision_number: n }) => String(n)), ...[left, right].filter((key) => key !== DRAFT)]);
  const choices = [{ value: DRAFT, label: 'Your draft' }, ...[...numbers].map((n) => ({ value: n, label: `Revision ${n}` }))];
  return (
    <Stack gap="md">
      <div>
        <Table className="flush">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Revision</Table.Th>
              <Table.Th>Summary</Table.Th>
              <Table.Th visibleFrom="sm">Saved</Table.Th>
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
                <Table.Td>
                  {change_summary}
                  <Box hiddenFrom="sm" className="dim">
                    {dateTime(created_at)}
                  </Box>
                </Table.Td>
                <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
                  {dateTime(created_at)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <MoreButton shown={list.length} total={total} query={revisions} />
      </div>
      <Group grow>
        <Select
          label="Compare"
          allowDeselect={false}
          data={choices}
          value={left}
          onChange={(next) => next !== null && setCompare(`${next},${right}`)}
        />
        <Select
          label="with"
          allowDeselect={false}
          data={choices}
          value={right}
          onChange={(next) => next !== null && setCompare(`${left},${next}`)}
        />
      </Group>
      {leftConfig.error !== null || rightConfig.error !== null ? (
        <Failed error={leftConfig.error ?? rightConfig.error} />
      ) : leftConfig.data === undefined || rightConfig.data === undefined ? (
        <Loading what="the revisions" />
      ) : (
        <Suspense fallback={<Loading what="the comparison" />}>
          <SideBySide left={JSON.stringify(leftConfig.data, null, 2)} right={JSON.stringify(rightConfig.data, null, 2)} />
        </Suspense>
      )}
    </Stack>
  );
}

function useConfig(templateId: string, key: string, draft: Config): { data: Config | undefined; error: unknown } {
  const stored = useQuery(revisionQuery(templateId, key === DRAFT ? undefined : Number(key)));
  return key === DRAFT ? { data: draft, error: null } : { data: stored.data?.config, error: stored.error };
}

/** The dead letters of the filters, newest first; several can be chosen. */
import { Box, Checkbox, Group, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Reason } from '../../components/reason.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf } from '../../components/tag.tsx';
import { dateTime, number } from '../../format.ts';
import { useIntegrationNames } from '../../names.ts';
import { nextOffset } from '../../next-offset.ts';
import classes from './dead-letters.module.css';
import { type DeadLettersSearch, filterOf, statusOf, whichOf } from './search.ts';

const PAGE = 50;
const EMPTY = { pending: 'Nothing is waiting to be replayed', replayed: 'Nothing was replayed', all: 'No dead letter matches' };

export function Letters({
  search,
  kept,
  onReplay,
  onReplayAll,
}: {
  search: DeadLettersSearch;
  /** For how long dead letters are kept. */
  kept: string;
  onReplay: (ids: string[]) => void;
  onReplayAll: () => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const which = whichOf(search);
  const status = statusOf(search);
  const letters = useInfiniteQuery({
    queryKey: ['dead-letters', which, status],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/admin/dlq', {
          params: { query: { ...filterOf(which), ...(status === 'all' ? {} : { status }), limit: PAGE, offset: pageParam } },
        }),
      ),
    getNextPageParam: (last) => nextOffset(last, last.dead_letters),
  });
  const rows = letters.data?.pages.flatMap((page) => page.dead_letters) ?? [];
  const names = useIntegrationNames(rows.flatMap(({ integration_id }) => integration_id ?? []));
  if (letters.isPending) return <Loading what="dead letters" />;
  if (letters.isLoadingError) return <Failed error={letters.error} retry={() => void letters.refetch()} />;
  const total = letters.data.pages[0]?.total ?? 0;
  if (rows.length === 0)
    return (
      <Empty
        title={EMPTY[status]}
        action={
          status === 'all' ? (
            <LinkButton to="/dead-letters">Clear the filters</LinkButton>
          ) : (
            <LinkButton to="/dead-letters" search={{ ...search, status: 'all' }}>
              Show those of every state
            </LinkButton>
          )
        }
      >
        Events that a vendor refuses, or that fail in processing, are listed here. {kept}
      </Empty>
    );
  const known = rows.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  function toggle(id: string, on: boolean) {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  }
  return (
    <section className="panel" style={{ overflowX: 'auto' }} aria-label="Dead letters">
      {status !== 'replayed' && (
        <Group gap="xs" p="sm" pb="xs">
          <RoleButton needs="editor" variant="default" disabled={known.length === 0} onClick={() => onReplay(known)}>
            {known.length === 0 ? 'Replay the chosen …' : `Replay ${number(known.length)} chosen …`}
          </RoleButton>
          <RoleButton needs="editor" variant="default" onClick={onReplayAll}>
            {status === 'pending' ? `Replay all that match (${number(total)}) …` : 'Replay all pending that match …'}
          </RoleButton>
        </Group>
      )}
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={36}>
              <Checkbox
                size="xs"
                aria-label="Choose all shown"
                checked={known.length === rows.length}
                indeterminate={known.length > 0 && known.length < rows.length}
                onChange={({ currentTarget }) => setChosen(new Set(currentTarget.checked ? rows.map(({ id }) => id) : []))}
              />
            </Table.Th>
            <Table.Th>Failed</Table.Th>
            <Table.Th>Event</Table.Th>
            <Table.Th visibleFrom="sm">Where</Table.Th>
            <Table.Th visibleFrom="sm">Reason</Table.Th>
            <Table.Th visibleFrom="sm">State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ id, created_at, event_id, event, stage, vendor, integration_id, reason, status: state }) => (
            <Table.Tr key={id} {...(id === search.selected ? { bg: 'var(--accent-soft)' } : {})}>
              <Table.Td>
                <Checkbox
                  size="xs"
                  aria-label={`Choose ${nameOf(event) ?? event_id} of ${dateTime(created_at)}`}
                  checked={chosen.has(id)}
                  onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
                />
              </Table.Td>
              <Table.Td className={classes.time}>{dateTime(created_at)}</Table.Td>
              <Table.Td>
                <Link to="/dead-letters" search={{ ...search, selected: id } as never}>
                  <b>{nameOf(event) ?? event_id}</b>
                </Link>
                <Box hiddenFrom="sm">
                  <span className="dim">{names.get(integration_id ?? '') ?? vendor ?? stage}</span>{' '}
                  {status !== 'pending' && <Tag tone={toneOf(state)}>{state}</Tag>} <Reason text={reason} />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="sm">{names.get(integration_id ?? '') ?? vendor ?? stage}</Table.Td>
              <Table.Td visibleFrom="sm" style={{ maxWidth: 420 }}>
                <Reason text={reason} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Tag tone={toneOf(state)}>{state}</Tag>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <MoreButton shown={rows.length} total={total} query={letters} />
    </section>
  );
}
function nameOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const { event: name, type } = event as { event?: unknown; type?: unknown };
  return typeof name === 'string' ? name : typeof type === 'string' ? type : undefined;
}

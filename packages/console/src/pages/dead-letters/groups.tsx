/** Dead letters by cause: how many, since when, and one button for all of a cause. */
import { Box, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Reason } from '../../components/reason.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { ago, dateTime, number } from '../../format.ts';
import { useIntegrationNames, usePipelineNames, useSourceNames } from '../../names.ts';
import type { DeadLettersSearch, Which } from './search.ts';

export interface Group {
  pipeline_id: string;
  integration_id: string | null;
  webhook_source_id: string | null;
  vendor: string | null;
  stage: string;
  reason: string;
  count: number;
  pending: number;
  first_at: string;
  last_at: string;
}
/** A cause, in the time and the state that are chosen. */
export const searchOf = (
  { pipeline_id, integration_id, webhook_source_id, stage, reason }: Group,
  { range, status }: DeadLettersSearch,
): DeadLettersSearch => ({
  ...(range === undefined ? {} : { range }),
  ...(status === undefined ? {} : { status }),
  pipeline: pipeline_id,
  ...(integration_id === null ? {} : { integration: integration_id }),
  ...(webhook_source_id === null ? {} : { source: webhook_source_id }),
  stage,
  reason,
});

export function Groups({
  groups,
  chosen,
  search,
  onReplay,
}: {
  groups: readonly Group[];
  chosen: Which;
  search: DeadLettersSearch;
  /** `where`: the name of what failed. */
  onReplay: (group: Group, where: string) => void;
}) {
  const pipelines = usePipelineNames(groups.map(({ pipeline_id }) => pipeline_id));
  const integrations = useIntegrationNames(groups.flatMap(({ integration_id }) => integration_id ?? []));
  const sources = useSourceNames(groups.flatMap(({ webhook_source_id }) => webhook_source_id ?? []));
  const nameOf = ({ integration_id, webhook_source_id, pipeline_id, vendor }: Group): string =>
    integration_id !== null
      ? (integrations.get(integration_id) ?? vendor ?? integration_id)
      : webhook_source_id !== null
        ? (sources.get(webhook_source_id) ?? webhook_source_id)
        : (pipelines.get(pipeline_id) ?? pipeline_id);
  return (
    <section className="panel" style={{ overflowX: 'auto' }} aria-label="Causes">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">Pending</Table.Th>
            <Table.Th visibleFrom="sm">Where</Table.Th>
            <Table.Th>Cause</Table.Th>
            <Table.Th visibleFrom="sm">First</Table.Th>
            <Table.Th visibleFrom="sm">Last</Table.Th>
            <Table.Th visibleFrom="sm">
              <span className="hidden">Actions</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => {
            const { integration_id, webhook_source_id, pipeline_id, stage, reason, pending, count } = group;
            const where = integration_id ?? webhook_source_id ?? pipeline_id;
            const isChosen = chosen.reason === reason && chosen.stage === stage && (chosen.integration_id ?? null) === integration_id;
            const place = (
              <>
                <b>{nameOf(group)}</b> <Tag>{stage}</Tag>
                {where !== pipeline_id && <div className="dim">{pipelines.get(pipeline_id)}</div>}
              </>
            );
            const replay = (
              <RoleButton needs="editor" variant="default" disabled={pending === 0} onClick={() => onReplay(group, nameOf(group))}>
                Replay {number(pending)} …
              </RoleButton>
            );
            return (
              <Table.Tr key={`${where} ${stage} ${reason}`} {...(isChosen ? { bg: 'var(--accent-soft)' } : {})}>
                <Table.Td ta="right">
                  <Link to="/dead-letters" search={{ ...searchOf(group, search), status: undefined } as never}>
                    <b style={{ color: pending > 0 ? 'var(--bad)' : 'var(--dim)' }}>{number(pending)}</b>
                  </Link>
                  {count > pending && (
                    <div className="dim">
                      of{' '}
                      <Link to="/dead-letters" search={{ ...searchOf(group, search), status: 'all' } as never}>
                        {number(count)}
                      </Link>
                    </div>
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">{place}</Table.Td>
                <Table.Td>
                  <Box hiddenFrom="sm" mb={4}>
                    {place}
                  </Box>
                  <Link to="/dead-letters" search={searchOf(group, search) as never}>
                    {reason.startsWith('http_') ? <Reason text={reason} /> : words(reason)}
                  </Link>
                  <Box hiddenFrom="sm">
                    <div className="dim" style={{ margin: '4px 0 8px' }}>
                      first {ago(group.first_at)}, last {ago(group.last_at)}
                    </div>
                    {replay}
                  </Box>
                </Table.Td>
                <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }} title={dateTime(group.first_at)}>
                  {ago(group.first_at)}
                </Table.Td>
                <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }} title={dateTime(group.last_at)}>
                  {ago(group.last_at)}
                </Table.Td>
                <Table.Td ta="right" visibleFrom="sm">
                  {replay}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}

import { Box, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Tag, toneOf } from '../../components/tag.tsx';
import { milliseconds, number } from '../../format.ts';
import { deadOf, deliveredOf } from '../../queries.ts';
import type { RangeKey } from '../../time-range.ts';
import { countedSearch } from '../dead-letters/search.ts';
import { countedEvents } from '../events/search.ts';

export interface IntegrationRow {
  integration: {
    id: string;
    name: string;
    vendor: string;
    template_id: string;
    revision_number: number;
    latest_revision_number: number;
    enabled: boolean;
    consent_category: string | null;
    health: { status: string; last_error: string | null; waiting: number; warnings: readonly string[] };
  };
  totals?:
    | {
        delivered: number;
        replayed: number;
        dead_lettered: number;
        dead_lettered_again: number;
        p50_ms: number | null;
        p99_ms: number | null;
      }
    | undefined;
}

export function IntegrationTable({ pipelineId, range, rows }: { pipelineId: string; range: RangeKey; rows: IntegrationRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section className="panel" style={{ overflowX: 'auto', marginBottom: 16 }} aria-label="Integrations">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Integration</Table.Th>
            <Table.Th visibleFrom="sm">Revision</Table.Th>
            <Table.Th visibleFrom="sm">Consent</Table.Th>
            <Table.Th ta="right">Delivered</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              Waiting
            </Table.Th>
            <Table.Th ta="right">Dead</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              p99
            </Table.Th>
            <Table.Th>Health</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ integration, totals }) => (
            <Table.Tr key={integration.id}>
              <Table.Td>
                <Link to="/pipelines/$pipelineId" params={{ pipelineId }} search={{ tab: 'integrations', integration: integration.id }}>
                  <b>{integration.name}</b>
                </Link>
                <Box hiddenFrom="sm">
                  <Link to="/events" search={{ pipeline: pipelineId, integration: integration.id, delivery: 'waiting' }}>
                    {number(integration.health.waiting)} waiting
                  </Link>
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Link
                  to="/templates/$templateId"
                  params={{ templateId: integration.template_id }}
                  search={{ revision: String(integration.revision_number) }}
                  title="Open the mapping"
                >
                  {integration.revision_number}
                </Link>{' '}
                {integration.latest_revision_number > integration.revision_number && (
                  <Link to="/templates/$templateId" params={{ templateId: integration.template_id }} style={{ textDecoration: 'none' }}>
                    <Tag tone="warn">{integration.latest_revision_number} is newer</Tag>
                  </Link>
                )}
              </Table.Td>
              <Table.Td visibleFrom="sm">
                {integration.consent_category === null ? (
                  <span className="dim">all events</span>
                ) : (
                  <Tag>{integration.consent_category}</Tag>
                )}
              </Table.Td>
              <Table.Td ta="right">
                {totals === undefined ? (
                  '…'
                ) : (
                  <Link
                    to="/events"
                    search={countedEvents({ pipeline: pipelineId, integration: integration.id, delivery: 'delivered', range })}
                  >
                    {number(deliveredOf(totals))}
                  </Link>
                )}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                <Link to="/events" search={{ pipeline: pipelineId, integration: integration.id, delivery: 'waiting' }}>
                  {number(integration.health.waiting)}
                </Link>
              </Table.Td>
              <Table.Td ta="right">
                {totals === undefined ? (
                  '…'
                ) : (
                  <Link
                    to="/dead-letters"
                    search={countedSearch({ pipeline: pipelineId, integration: integration.id }, range)}
                    style={deadOf(totals) === 0 ? undefined : { color: 'var(--bad)' }}
                  >
                    {number(deadOf(totals))}
                  </Link>
                )}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {milliseconds(totals?.p99_ms)}
              </Table.Td>
              <Table.Td>
                <Tag tone={integration.enabled ? toneOf(integration.health.status) : 'neutral'}>
                  {integration.enabled ? integration.health.status : 'disabled'}
                </Tag>{' '}
                {integration.health.warnings.length > 0 && (
                  <Link to="/pipelines/$pipelineId" params={{ pipelineId }} search={{ tab: 'integrations', integration: integration.id }}>
                    <Tag tone="warn">
                      {integration.health.warnings.length} {integration.health.warnings.length === 1 ? 'warning' : 'warnings'}
                    </Tag>
                  </Link>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

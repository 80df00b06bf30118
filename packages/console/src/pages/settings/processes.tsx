/** Every process of the installation: what it does, since when, and whether it is up to date with the others. */
import { Box, Group, Table, Title } from '@mantine/core';
import { Tag } from '../../components/tag.tsx';
import { ago, bytes, dateTime } from '../../format.ts';

export interface ProcessRow {
  id: string;
  this: boolean;
  host: string | null;
  roles: readonly string[];
  version: string;
  started_at: string;
  memory_bytes: number;
  log_available: boolean;
  configuration_version: number;
}
interface Stores {
  configuration: { engine: string };
  log: { engine: string };
}

export function Processes({
  processes,
  stores,
  version,
  configurationVersion,
}: {
  processes: readonly ProcessRow[];
  stores: Stores;
  version: string;
  configurationVersion: number;
}) {
  return (
    <>
      <Title order={3} mt="md">
        Processes {processes.length > 1 && <span className="dim">{processes.length}</span>}
      </Title>
      <p className="dim">{aboutStores(stores)}</p>
      <div style={{ overflowX: 'auto' }}>
        <Table aria-label="Processes" className="flush">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Process</Table.Th>
              <Table.Th>Roles</Table.Th>
              <Table.Th visibleFrom="sm">Started</Table.Th>
              <Table.Th visibleFrom="sm" ta="right">
                Memory
              </Table.Th>
              <Table.Th>State</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {processes.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td>
                  <span className="mono">{row.host ?? row.id.slice(0, 8)}</span> {row.this && <Tag>this one</Tag>}
                  <Box hiddenFrom="sm" className="dim">
                    started {ago(row.started_at)}, {bytes(row.memory_bytes)}
                  </Box>
                </Table.Td>
                <Table.Td>
                  <Group gap={4}>
                    {row.roles.map((role) => (
                      <Tag key={role}>{role}</Tag>
                    ))}
                  </Group>
                </Table.Td>
                <Table.Td visibleFrom="sm" title={dateTime(row.started_at)} style={{ whiteSpace: 'nowrap' }}>
                  {ago(row.started_at)}
                </Table.Td>
                <Table.Td visibleFrom="sm" ta="right" style={{ whiteSpace: 'nowrap' }}>
                  {bytes(row.memory_bytes)}
                </Table.Td>
                <Table.Td>
                  <Group gap={4}>
                    <Tag tone={row.log_available ? 'ok' : 'bad'}>{row.log_available ? 'log available' : 'log not available'}</Tag>
                    {row.version !== version && <Tag tone="warn">version {row.version}</Tag>}
                    {row.configuration_version < configurationVersion && <Tag tone="warn">older configuration</Tag>}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
}

function aboutStores({ configuration, log }: Stores): string {
  if (log.engine === 'nats') return 'Processes that were heard within the last 15 seconds. They share PostgreSQL and NATS.';
  return configuration.engine === 'sqlite'
    ? 'Embedded stores: everything is in one folder on this machine, and exactly one process works with it. For several processes, use PostgreSQL and NATS.'
    : 'The event log is embedded: it is in a folder on this machine, and exactly one process works with it. For several processes, use NATS too.';
}

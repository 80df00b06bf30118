/** Which revision each pipeline has pinned; the pin can be moved up and down. */
import { Alert, Box, Select, Stack, Table, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { RevisionChange } from '../../components/delivery-change.tsx';
import { RoleNote } from '../../components/role-button.tsx';
import { Tag } from '../../components/tag.tsx';
import { UseTemplate } from '../../components/use-template.tsx';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { useMay } from '../../session/use-session.ts';
import type { PinnedIntegration } from './request-pane.tsx';

export function Pins({
  templateId,
  integrations,
  latest,
  saved,
}: {
  templateId: string;
  integrations: readonly PinnedIntegration[];
  latest: number;
  /** The revision that was saved just now. */
  saved: number | undefined;
}) {
  const may = useMay('editor');
  const queries = useQueryClient();
  const move = useMutation({
    mutationFn: ({ integration, revision }: { integration: PinnedIntegration; revision: number }) =>
      call(
        api.PUT('/v1/admin/pipelines/{id}/integrations/{integration_id}', {
          params: { path: { id: integration.pipeline_id, integration_id: integration.id } },
          body: { revision_number: revision },
        }),
      ),
    onSuccess: async (_done, { integration, revision }) => {
      notifications.show({ message: `${integration.name} uses revision ${revision} from now on.` });
      await queries.invalidateQueries({ queryKey: ['integrations'] });
    },
  });
  const ask = (integration: PinnedIntegration, revision: number) =>
    openConfirmModal({
      title: `Deliver ${integration.name} in ${integration.pipeline_name} with revision ${revision}?`,
      children: <RevisionChange integrationId={integration.id} from={integration.revision_number} to={revision} />,
      labels: { confirm: `Use revision ${revision}`, cancel: 'Keep' },
      onConfirm: () => move.mutate({ integration, revision }),
    });
  return (
    <Stack gap="sm">
      <Text size="sm" c="var(--dim)">
        {saved === undefined
          ? 'A pipeline keeps the revision that it has pinned until you move it. Moving back undoes a change at once.'
          : `Revision ${saved} is saved. It is used by a pipeline once you move its pin.`}
      </Text>
      <RoleNote needs="editor" />
      {move.isError && (
        <Alert color="red" role="alert">
          {failureText(move.error)}
        </Alert>
      )}
      {integrations.length === 0 ? (
        <Text size="sm">No pipeline uses this template.</Text>
      ) : (
        <Table className="flush">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Pipeline</Table.Th>
              <Table.Th visibleFrom="sm">Integration</Table.Th>
              <Table.Th>Pinned revision</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {integrations.map((integration) => (
              <Table.Tr key={integration.id}>
                <Table.Td>
                  <Link to="/pipelines/$pipelineId" params={{ pipelineId: integration.pipeline_id }}>
                    {integration.pipeline_name}
                  </Link>
                  <Box hiddenFrom="sm" className="dim">
                    {integration.name}
                  </Box>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Link
                    to="/pipelines/$pipelineId"
                    params={{ pipelineId: integration.pipeline_id }}
                    search={{ tab: 'integrations', integration: integration.id }}
                  >
                    {integration.name}
                  </Link>
                </Table.Td>
                <Table.Td>
                  <Select
                    size="xs"
                    w={150}
                    aria-label={`Pinned revision of ${integration.name}`}
                    allowDeselect={false}
                    disabled={!may || move.isPending}
                    value={String(integration.revision_number)}
                    data={Array.from({ length: latest }, (_, at) => ({ value: String(latest - at), label: `Revision ${latest - at}` }))}
                    onChange={(next) => next !== null && Number(next) !== integration.revision_number && ask(integration, Number(next))}
                  />
                  {integration.revision_number < latest && <Tag tone="warn">{`${latest} is newer`}</Tag>}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <section aria-label="Use in a pipeline" className="panel" style={{ padding: 12 }}>
        <Title order={3} mb="xs">
          Use in {integrations.length === 0 ? 'a' : 'another'} pipeline
        </Title>
        <UseTemplate key={integrations.length} templateId={templateId} />
      </section>
    </Stack>
  );
}

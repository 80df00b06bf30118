import { Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, call } from '../../api.ts';
import { LastDay, receivedText } from '../../components/last-day.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { integrationsQuery } from '../../queries.ts';

export function DeletePipeline({ pipeline: { id, name } }: { pipeline: { id: string; name: string } }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/pipelines/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['pipelines'] });
      // Nothing typed for it can be saved any more.
      void navigate({ to: '/pipelines', ignoreBlocker: true });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not deleted', message: failureText(error) }),
  });
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Delete">
      <Title order={2}>Delete</Title>
      <p className="dim">Events sent with its key are rejected at once. Events that wait for its integrations are not delivered.</p>
      <RoleButton
        needs="admin"
        color="red"
        variant="outline"
        loading={remove.isPending}
        onClick={() =>
          openConfirmModal({
            title: `Delete ${name}?`,
            children: (
              <>
                Requests with its key are refused at once. <LastDay pipelineId={id}>{receivedText}</LastDay> <Loses pipelineId={id} /> There
                is no undo in the console.
              </>
            ),
            labels: { confirm: 'Delete the pipeline', cancel: 'Keep it' },
            confirmProps: { color: 'red' },
            onConfirm: () => remove.mutate(),
          })
        }
      >
        Delete this pipeline …
      </RoleButton>
    </section>
  );
}

/** What goes with the pipeline. */
function Loses({ pipelineId }: { pipelineId: string }) {
  const { data } = useQuery(integrationsQuery(pipelineId));
  if (data === undefined) return '…';
  const waiting = data.integrations.reduce((sum, { health }) => sum + health.waiting, 0);
  const integrations = `Its ${number(data.total)} ${data.total === 1 ? 'integration goes' : 'integrations go'} with it`;
  return `${integrations}, and ${number(waiting)} waiting ${waiting === 1 ? 'delivery is' : 'deliveries are'} not made.`;
}

/** The public key and the secret of a pipeline. A new secret is shown once. */
import { Alert, Modal, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { LastDay, sentText } from '../../components/last-day.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { pipelineQuery } from '../../queries.ts';

export interface PipelineKeysProps {
  pipeline: { id: string; pipeline_key: string; pipeline_key_secret_prefix: string };
  onRotated: (updatedAt: string) => void;
}
export function PipelineKeys({ pipeline: { id, pipeline_key, pipeline_key_secret_prefix }, onRotated }: PipelineKeysProps) {
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const rotate = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/pipelines/{id}/rotate-secret', { params: { path: { id } } })),
    onSuccess: async (made) => {
      setSecret(made.pipeline_key_secret);
      // It is rotated, whether or not the pipeline can be read again.
      const read = await queries.fetchQuery({ ...pipelineQuery(id), staleTime: 0 }).catch(() => undefined);
      if (read !== undefined) onRotated(read.updated_at);
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not rotated', message: failureText(error) }),
  });
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Keys">
      <Title order={2}>Keys</Title>
      <p className="dim">The pipeline key is public: pages and apps contain it.</p>
      <Json value={pipeline_key} label="Pipeline key" />
      <p className="dim">
        Servers sign their requests with the secret. It begins with <code>{pipeline_key_secret_prefix}…</code> and is shown only once, when
        it is created.
      </p>
      <RoleButton
        needs="admin"
        variant="default"
        loading={rotate.isPending}
        onClick={() =>
          openConfirmModal({
            title: 'Rotate the secret?',
            children: (
              <>
                The current secret stops working at once. Servers that sign with it get 401 until they have the new one.{' '}
                <LastDay pipelineId={id}>{sentText('server')}</LastDay>
              </>
            ),
            labels: { confirm: 'Rotate', cancel: 'Keep' },
            confirmProps: { color: 'red' },
            onConfirm: () => rotate.mutate(),
          })
        }
      >
        Rotate the secret …
      </RoleButton>
      <Modal opened={secret !== undefined} onClose={() => setSecret(undefined)} title="The new secret">
        <Alert color="yellow" mb="sm">
          Copy it now: it is not shown again.
        </Alert>
        <Json value={secret ?? ''} label="New secret" />
      </Modal>
    </section>
  );
}

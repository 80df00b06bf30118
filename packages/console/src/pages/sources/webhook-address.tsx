/** Where a provider sends its webhooks, and the secret with which it signs them. */
import { Group, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Copy, Json } from '../../components/json.tsx';
import { LastDay, sentText } from '../../components/last-day.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import type { Source } from './sources.ts';

export function WebhookAddress({ source }: { source: Source }) {
  const rotate = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/webhook-sources/{id}/rotate-secret', { params: { path: { id: source.id } } })),
    onError: (error) => notifications.show({ color: 'red', title: 'Not changed', message: failureText(error) }),
  });
  return (
    <>
      <TextInput
        label="Address for the provider"
        readOnly
        value={source.url}
        mt="sm"
        maw={720}
        classNames={{ input: 'mono' }}
        rightSection={<Copy text={source.url} label="Copy the address" inline />}
      />
      <Group mt="sm" gap="xs">
        <RoleButton
          needs="admin"
          variant="default"
          loading={rotate.isPending}
          onClick={() =>
            openConfirmModal({
              title: `Make a new signing secret for ${source.name}?`,
              children: (
                <>
                  Webhooks signed with the old one are refused until you enter the new one at the provider.{' '}
                  <LastDay pipelineId={source.pipeline_id}>{sentText(source.id)}</LastDay>
                </>
              ),
              labels: { confirm: 'Make a new one', cancel: 'Keep the old one' },
              confirmProps: { color: 'red' },
              onConfirm: () => rotate.mutate(),
            })
          }
        >
          Rotate the secret …
        </RoleButton>
      </Group>
      {rotate.data !== undefined && (
        <>
          <p>The new signing secret, shown only now:</p>
          <Json value={String((rotate.data as { signing_secret?: string }).signing_secret)} label="Signing secret" />
        </>
      )}
    </>
  );
}

/** The exact request, recomputed as you type; and one real request through the pinned revision. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Tag } from '../../components/tag.tsx';
import { VendorRequests, type VendorResult } from '../../components/vendor-requests.tsx';
import { milliseconds } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import classes from './mapping.module.css';

export interface PinnedIntegration {
  id: string;
  name: string;
  pipeline_id: string;
  pipeline_name: string;
  revision_number: number;
}

export const RequestPane = memo(function RequestPane({
  result,
  took,
  event,
  integration,
}: {
  result: VendorResult | undefined;
  took: number;
  event: CanonicalEvent;
  integration: PinnedIntegration | undefined;
}) {
  return (
    <section className={`panel ${classes.pane}`} aria-label="Request">
      <div className={classes.paneHead}>
        Request <Tag tone="ok">{`computed in ${took < 1 ? '< 1' : took.toFixed(0)} ms`}</Tag>
      </div>
      <div className={classes.body}>
        {result === undefined ? <p className="dim">Fix the errors to see the request.</p> : <VendorRequests result={result} />}
      </div>
      {integration !== undefined && <SendOne event={event} integration={integration} />}
    </section>
  );
});

function SendOne({ event, integration }: { event: CanonicalEvent; integration: PinnedIntegration }) {
  const send = useMutation({
    mutationFn: () => {
      const { event_id: _fresh, ...rest } = event;
      return call(
        api.POST('/v1/admin/pipelines/{id}/integrations/{integration_id}/test', {
          params: { path: { id: integration.pipeline_id, integration_id: integration.id } },
          body: { event: rest as never },
        }),
      );
    },
  });
  return (
    <div className={classes.send}>
      <Group gap="xs">
        <RoleButton
          needs="editor"
          variant="default"
          loading={send.isPending}
          onClick={() =>
            openConfirmModal({
              title: `Send this event to ${integration.name} for real?`,
              children: `One request goes to the vendor, through revision ${integration.revision_number}, which is pinned now, without filter or consent gate.`,
              labels: { confirm: 'Send one', cancel: 'Not now' },
              onConfirm: () => send.mutate(),
            })
          }
        >
          Send this one for real …
        </RoleButton>
        <span className="dim">through pinned revision {integration.revision_number}</span>
      </Group>
      {send.data !== undefined && (
        <div role="status">
          <p>
            <Tag tone={(send.data.status ?? 500) < 400 ? 'ok' : 'bad'}>{send.data.status ?? 'no answer'}</Tag>{' '}
            {milliseconds(send.data.duration_ms)}
          </p>
          {send.data.response_excerpt !== '' && <Json value={send.data.response_excerpt} label="Answer of the vendor" maxHeight={160} />}
        </div>
      )}
      {send.isError && <p role="alert">{failureText(send.error)}</p>}
    </div>
  );
}

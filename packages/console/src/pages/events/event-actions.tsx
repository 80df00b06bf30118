/** What can be done with one event: copy it as curl, keep it as a test case, send it to an integration again. */
import { Button, CopyButton, Group, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { failureText, fieldErrors } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import type { Explained } from './event-query.ts';

const PATHS: Record<string, string> = { track: '/v1/t', page: '/v1/p', identify: '/v1/i', group: '/v1/g' };
/** The log's time and the trace's may differ by this much. */
const SLACK_MS = 10_000;

/** The event as a request that can be sent again by hand; the key is left to fill in. */
export function curlOf(origin: string, event: { type: string; received?: unknown; event: unknown }): string {
  const body = JSON.stringify(event.received ?? event.event, null, 2).replaceAll("'", "'\\''");
  return `curl ${origin}${PATHS[event.type] ?? '/v1/events'} \\\n  -H 'authorization: Bearer <pipeline key>' \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
}

export function EventActions({ event }: { event: Explained }) {
  const may = useMay('editor');
  const [saving, { open, close }] = useDisclosure();
  return (
    <Group gap="xs" mt="sm">
      {event.event !== null && <SendAgain event={event} disabled={!may} />}
      <CopyButton value={curlOf(location.origin, event)}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy as curl'}
          </Button>
        )}
      </CopyButton>
      {event.event !== null && (
        <Button variant="default" onClick={open} disabled={!may} title={may ? undefined : 'Needs the role editor'}>
          Save as test case
        </Button>
      )}
      <Modal opened={saving} onClose={close} title="Save as test case">
        <SaveCase event={event} onDone={close} />
      </Modal>
    </Group>
  );
}

function SendAgain({ event, disabled }: { event: Explained; disabled: boolean }) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: ({ integration_id }: { integration_id: string; name: string }) =>
      call(
        api.POST('/v1/admin/pipelines/{id}/integrations/{integration_id}/replay', {
          params: { path: { id: event.pipeline_id, integration_id } },
          body: {
            from: new Date(Date.parse(event.processed_at) - SLACK_MS).toISOString(),
            to: new Date(Date.parse(event.processed_at) + SLACK_MS).toISOString(),
            event_ids: [event.event_id],
          },
        }),
      ),
    onSuccess: async ({ replayed }, { name }) => {
      notifications.show(
        replayed === 0
          ? { color: 'red', title: 'Not sent', message: 'The event is no longer in the log.' }
          : { message: `The event is on its way to ${name}.` },
      );
      await queries.invalidateQueries({ queryKey: ['event', event.event_id] });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not sent', message: failureText(error) }),
  });
  return (
    <Menu position="bottom-start" disabled={disabled}>
      <Menu.Target>
        <Button variant="default" loading={send.isPending} disabled={disabled} title={disabled ? 'Needs the role editor' : undefined}>
          Send again to …
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {event.deliveries.length === 0 && <Menu.Label>The pipeline has no integrations.</Menu.Label>}
        {event.deliveries.map(({ integration_id, name, status }) => (
          <Menu.Item
            key={integration_id}
            onClick={() =>
              modals.openConfirmModal({
                title: `Send this event to ${name ?? integration_id}${status === 'delivered' ? ' again' : ''}?`,
                children: `It goes through the pinned revision; the event filter and the consent category decide as ever.${status === 'delivered' ? ' The vendor has it already: it may count it twice unless it deduplicates by id.' : ''}`,
                labels: { confirm: 'Send', cancel: 'Not now' },
                onConfirm: () => send.mutate({ integration_id, name: name ?? integration_id }),
              })
            }
          >
            {name ?? integration_id}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function SaveCase({ event, onDone }: { event: Explained; onDone: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(`${event.event_name ?? event.type} ${event.event_id.slice(0, 8)}`);
  const save = useMutation({
    mutationFn: () =>
      call(api.POST('/v1/admin/test-cases', { body: { name: name.trim(), pipeline_id: event.pipeline_id, event: event.event as never } })),
    onSuccess: async () => {
      onDone();
      notifications.show({ title: 'Saved', message: 'The mapping builder offers it beside recent events.' });
      await queries.invalidateQueries({ queryKey: ['test-cases'] });
    },
  });
  const faults = save.error === null ? {} : fieldErrors(save.error, 'name');
  return (
    <form
      onSubmit={(submitted) => {
        submitted.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="The event is kept as it is, with the personal data in it, until somebody deletes the test case."
          data-autofocus
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={Object.values(faults)[0]}
        />
        <Button type="submit" size="sm" loading={save.isPending} disabled={name.trim() === ''}>
          Save
        </Button>
      </Stack>
    </form>
  );
}

/** What can be done with one event: copy it as curl, keep it as a test case, send it to an integration again. */
import { Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { failureText, fieldErrors } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { pipelineQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { curlOf } from './curl.ts';
import type { Explained } from './event-query.ts';

/** The log's time and the trace's may differ by this much. */
const SLACK_MS = 10_000;
const SEND_AGAIN = 'Send again to …';

/** `onWhy`: shows what became of the event at an integration. */
export function EventActions({ event, onWhy }: { event: Explained; onWhy: (integrationId: string) => void }) {
  const may = useMay('editor');
  const [saving, { open, close }] = useDisclosure();
  return (
    <Group gap="xs" mt="sm">
      {event.event !== null &&
        (may ? (
          <SendAgain event={event} />
        ) : (
          <RoleButton needs="editor" variant="default">
            {SEND_AGAIN}
          </RoleButton>
        ))}
      <WhyNot event={event} onWhy={onWhy} />
      <EventAsCurl event={event} />
      {event.event !== null && (
        <RoleButton needs="editor" variant="default" onClick={open}>
          Save as test case
        </RoleButton>
      )}
      <Modal opened={saving} onClose={close} title="Save as test case">
        <SaveCase event={event} onDone={close} />
      </Modal>
    </Group>
  );
}

function WhyNot({ event, onWhy }: { event: Explained; onWhy: (integrationId: string) => void }) {
  const missing = event.deliveries.filter(({ status }) => status !== 'delivered');
  const [isChosen, setIsChosen] = useState(false);
  if (missing.length === 0) return null;
  return (
    // What was chosen gets the focus. Without a choice it returns to the button.
    <Menu position="bottom-start" returnFocus={!isChosen} onOpen={() => setIsChosen(false)}>
      <Menu.Target>
        <Button variant="default">Why not delivered to …?</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {missing.map(({ integration_id, name, status }) => (
          <Menu.Item
            key={integration_id}
            onClick={() => {
              setIsChosen(true);
              onWhy(integration_id);
            }}
            rightSection={<Tag tone={toneOf(status)}>{status === 'dead_lettered' ? 'dead letter' : words(status)}</Tag>}
          >
            {name ?? integration_id}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function EventAsCurl({ event }: { event: Explained }) {
  const pipeline = useQuery(pipelineQuery(event.pipeline_id));
  const snippet = useQuery({
    queryKey: ['ingest-url', event.pipeline_id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/snippet', { params: { path: { id: event.pipeline_id } } })),
    staleTime: Infinity,
  });
  const failed = pipeline.error ?? snippet.error;
  if (pipeline.data === undefined || snippet.data === undefined)
    return (
      <Button variant="default" disabled title={failed === null ? 'The address is being read' : failureText(failed)}>
        Copy as curl
      </Button>
    );
  return <CopyAsCurl command={curlOf({ ingestUrl: snippet.data.ingest_url, key: pipeline.data.pipeline_key }, event)} />;
}

function SendAgain({ event }: { event: Explained }) {
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
    <Menu position="bottom-start">
      <Menu.Target>
        <Button variant="default" loading={send.isPending}>
          {SEND_AGAIN}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {event.deliveries.length === 0 && <Menu.Label>The pipeline has no integrations.</Menu.Label>}
        {event.deliveries.map(({ integration_id, name, status }) => (
          <Menu.Item
            key={integration_id}
            onClick={() =>
              openConfirmModal({
                title: `Send this event to ${name ?? integration_id}${status === 'delivered' ? ' again' : ''}?`,
                children: `It goes through the pinned revision; the event filter and the consent category apply as usual.${status === 'delivered' ? ' The vendor has it already: it may count it twice unless it deduplicates by id.' : ''}`,
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
          description="The event is kept as it is, with the personal data in it, until somebody deletes the test case or erases the person."
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

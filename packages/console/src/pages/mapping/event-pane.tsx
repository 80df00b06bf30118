/** The event that the request is computed for: a sample, a saved test case, a recent one, or what is typed. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { Alert, Button, Group, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Editor } from '../../components/editor.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { parseExactly } from '../../exact-json.ts';
import { failureText } from '../../forms.ts';
import { type ChosenEvent, isTestCase } from './chosen-event.ts';
import { DeleteCase } from './delete-case.tsx';
import { EventSelect } from './event-select.tsx';
import classes from './mapping.module.css';
import { sampleEvent } from './recent-events.ts';

/** Drawn again only when its event changes, not at each key typed in a row. */
export const EventPane = memo(function EventPane({
  chosen,
  event,
  recent,
  pipelineId,
  onChange,
}: {
  chosen: ChosenEvent;
  /** The chosen one, or what was typed of it. */
  event: CanonicalEvent;
  recent: readonly CanonicalEvent[];
  pipelineId: string | undefined;
  onChange: (event: CanonicalEvent) => void;
}) {
  const [naming, { toggle, close }] = useDisclosure();
  /** The event whose text cannot be read now: a test case would be the text before. */
  const [unread, setUnread] = useState<string>();
  const isUnread = unread === chosen.key;
  return (
    <section className={`panel ${classes.pane}`} aria-label="Event">
      <div className={classes.paneHead}>
        Event
        <EventSelect chosen={chosen} recent={recent} pipelineId={pipelineId} />
      </div>
      <EventEditor key={chosen.key} event={event} onChange={onChange} onRead={(isRead) => setUnread(isRead ? undefined : chosen.key)} />
      <Group gap="xs" px="sm" pb="sm">
        {naming ? (
          <SaveCase
            event={event}
            pipelineId={pipelineId}
            isUnread={isUnread}
            onSaved={(id) => {
              close();
              chosen.choose(id);
            }}
            onCancel={close}
          />
        ) : (
          <RoleButton needs="editor" variant="default" onClick={toggle} disabled={isUnread}>
            Save as test case
          </RoleButton>
        )}
        {isTestCase(chosen.id) && <DeleteCase id={chosen.id} onDeleted={() => chosen.choose(sampleEvent.event_id)} />}
      </Group>
    </section>
  );
});

interface EventEditorProps {
  event: CanonicalEvent;
  onChange: (event: CanonicalEvent) => void;
  /** Whether the text is an event. */
  onRead: (isRead: boolean) => void;
}
function EventEditor({ event, onChange, onRead }: EventEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(event, null, 2));
  const [fault, setFault] = useState<string>();
  function edit(next: string) {
    setText(next);
    try {
      const parsed = parseExactly(next);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('The event must be a JSON object.');
      setFault(undefined);
      onRead(true);
      onChange({ context: {}, timestamp: event.timestamp, ...parsed, event_id: event.event_id } as CanonicalEvent);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      onRead(false);
    }
  }
  return (
    <div className={`${classes.body} ${classes.event}`}>
      <Editor label="Event" language="json" value={text} onChange={edit} minHeight={300} />
      {fault !== undefined && <Alert color="red">{fault}</Alert>}
    </div>
  );
}

function SaveCase({
  event,
  pipelineId,
  isUnread,
  onSaved,
  onCancel,
}: {
  event: CanonicalEvent;
  pipelineId: string | undefined;
  isUnread: boolean;
  onSaved: (id: string) => void;
  onCancel: () => void;
}) {
  const queries = useQueryClient();
  const [name, setName] = useState(event.event ?? event.type);
  const save = useMutation({
    mutationFn: () =>
      call(
        api.POST('/v1/admin/test-cases', {
          body: { name: name.trim(), event: event as never, ...(pipelineId === undefined ? {} : { pipeline_id: pipelineId }) },
        }),
      ),
    onSuccess: async ({ id }) => {
      onSaved(id);
      notifications.show({ message: 'The test case is saved.' });
      await queries.invalidateQueries({ queryKey: ['test-cases'] });
    },
  });
  return (
    <form
      style={{ display: 'flex', gap: 8, flex: 1, alignItems: 'flex-start' }}
      onSubmit={(submitted) => {
        submitted.preventDefault();
        save.mutate();
      }}
    >
      <TextInput
        size="xs"
        style={{ flex: 1 }}
        aria-label="Name of the test case"
        autoFocus
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={save.isError ? failureText(save.error) : undefined}
      />
      <Button type="submit" loading={save.isPending} disabled={isUnread || name.trim() === ''}>
        Save
      </Button>
      <Button variant="subtle" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  );
}

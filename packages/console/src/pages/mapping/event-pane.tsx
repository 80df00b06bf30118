/** The event that the request is computed for: a sample, a saved test case, a recent one, or what is typed. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { Alert, Button, Group, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Editor } from '../../components/editor.tsx';
import { clockTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import classes from './mapping.module.css';
import { sampleEvent } from './recent-events.ts';

const LISTED = 50;

export function EventPane({
  event,
  recent,
  pipelineId,
  onChange,
}: {
  event: CanonicalEvent;
  recent: readonly CanonicalEvent[];
  pipelineId: string | undefined;
  onChange: (event: CanonicalEvent) => void;
}) {
  const may = useMay('editor');
  const [naming, { toggle, close }] = useDisclosure();
  const [chosen, setChosen] = useState(sampleEvent.event_id);
  const cases = useQuery({
    queryKey: ['test-cases', pipelineId],
    queryFn: () =>
      call(
        api.GET('/v1/admin/test-cases', {
          params: { query: { limit: 100, ...(pipelineId === undefined ? {} : { pipeline_id: pipelineId }) } },
        }),
      ),
  });
  function choose(id: string | null) {
    const saved = cases.data?.test_cases.find((one) => one.id === id);
    const event = saved?.event as unknown as CanonicalEvent | undefined; // a test case may be an incomplete event
    const next = event ?? recent.find((one) => one.event_id === id);
    setChosen(id ?? sampleEvent.event_id);
    onChange(next ?? sampleEvent);
  }
  return (
    <section className={`panel ${classes.pane}`} aria-label="Event">
      <div className={classes.paneHead}>
        Event
        <Select
          size="xs"
          w={190}
          aria-label="Choose an event"
          allowDeselect={false}
          searchable
          value={chosen}
          data={[
            { group: 'Samples', items: [{ value: sampleEvent.event_id, label: 'Sample order' }] },
            {
              group: 'Test cases',
              items: cases.data?.test_cases.map(({ id, name }) => ({ value: id, label: name })) ?? [],
            },
            {
              group: 'Recent events',
              items: recent
                .slice(0, LISTED)
                .map((one) => ({ value: one.event_id, label: `${one.event ?? one.type} · ${clockTime(one.timestamp).slice(0, -4)}` })),
            },
          ]}
          onChange={choose}
        />
      </div>
      <EventEditor key={chosen} event={event} onChange={onChange} />
      <Group gap="xs" p="xs" pt={0}>
        {naming ? (
          <SaveCase event={event} pipelineId={pipelineId} onDone={close} />
        ) : (
          <Button variant="default" onClick={toggle} disabled={!may} title={may ? undefined : 'Needs the role editor'}>
            Save as test case
          </Button>
        )}
      </Group>
    </section>
  );
}

function EventEditor({ event, onChange }: { event: CanonicalEvent; onChange: (event: CanonicalEvent) => void }) {
  const [text, setText] = useState(() => JSON.stringify(event, null, 2));
  const [fault, setFault] = useState<string>();
  function edit(next: string) {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('The event must be a JSON object.');
      setFault(undefined);
      onChange({ context: {}, timestamp: event.timestamp, ...parsed, event_id: event.event_id } as CanonicalEvent);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <div className={classes.body}>
      <Editor label="Event" language="json" value={text} onChange={edit} minHeight={300} />
      {fault !== undefined && <Alert color="red">{fault}</Alert>}
    </div>
  );
}

function SaveCase({ event, pipelineId, onDone }: { event: CanonicalEvent; pipelineId: string | undefined; onDone: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(event.event ?? event.type);
  const save = useMutation({
    mutationFn: () =>
      call(
        api.POST('/v1/admin/test-cases', {
          body: { name: name.trim(), event: event as never, ...(pipelineId === undefined ? {} : { pipeline_id: pipelineId }) },
        }),
      ),
    onSuccess: async () => {
      onDone();
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
      <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
        Save
      </Button>
      <Button variant="subtle" onClick={onDone}>
        Cancel
      </Button>
    </form>
  );
}

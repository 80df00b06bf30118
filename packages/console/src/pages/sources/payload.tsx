/** How a source reads its webhooks, and the event that it would make of a pasted payload, by the code that maps webhooks on the server. */
import { findSource } from '@firsthand/catalog/sources/index.ts';
import type { WebhookSourceFields } from '@firsthand/core/config/webhook-source.ts';
import { Alert, Button, Group, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { Conflict } from '../../components/conflict.tsx';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { parseExactly } from '../../exact-json.ts';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { SAMPLE_PAYLOADS } from './sample-payloads.ts';
import classes from './sources.module.css';
import { providerName, SOURCES, type Source, saveSource } from './sources.ts';
import { tryPayload } from './try-payload.ts';

/** Set elsewhere in the console, or only through the API. */
type NotHere = 'pipeline_id' | 'name' | 'source_type' | 'provider' | 'kind' | 'connection' | 'enabled';
/**
 * What decides how a payload is read; the fields have their names of the API. Each writable field of a source is here or in `NotHere`.
 */
const READ_BY = {
  event_type_path: true,
  event_name_map: true,
  timestamp_path: true,
  timestamp_format: true,
  mappings: true,
  default_consent: true,
  signature_method: true,
  signature_header: true,
} satisfies Record<Exclude<keyof WebhookSourceFields, NotHere>, true>;
const readingOf = (source: Source) => Object.fromEntries(Object.keys(READ_BY).map((name) => [name, source[name as keyof typeof READ_BY]]));

export function Payload({ source }: { source: Source }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const stored = useMemo(() => JSON.stringify(readingOf(source), null, 2), [source]);
  /** What was typed, and the version that it started from. */
  const [draft, setDraft] = useState<{ text: string; base: Source }>();
  const [theirs, setTheirs] = useState<Source>();
  const sample = SAMPLE_PAYLOADS[source.provider];
  const [text, setText] = useState(() => JSON.stringify(sample.body, null, 2));
  const [eventType, setEventType] = useState(sample.type_header ?? '');
  /** The header that names the type of the event, for senders that put it there. */
  const typeHeader = /^\$headers\.(.+)$/.exec(source.event_type_path ?? findSource(source.provider).event_type_path ?? '')?.[1];
  const reading = draft?.text ?? stored;
  useUnsaved(reading !== stored);
  const shown = useDeferredValue(text);
  const shownReading = useDeferredValue(reading);
  const result = useMemo(
    () => tryPayload(source, shownReading, shown, typeHeader === undefined ? {} : { [typeHeader]: eventType }, Date.now()),
    [source, shown, shownReading, typeHeader, eventType],
  );
  const save = useMutation({
    mutationFn: (base: Source) => saveSource(base, readingOf, parseExactly(reading) as never),
    onSuccess: async (saved) => {
      if (saved.kind === 'conflict') return setTheirs(saved.theirs);
      setTheirs(undefined);
      await queries.invalidateQueries({ queryKey: SOURCES });
      // What was typed during the save stays, on top of it.
      setDraft((now) => (now === undefined || now.text === reading ? undefined : { text: now.text, base: saved.stored }));
      notifications.show({ message: 'Saved. New events are read this way within five seconds.' });
    },
  });
  return (
    <>
      {theirs !== undefined && (
        <Conflict
          what={`how ${source.name} is read`}
          theirs={readingOf(theirs)}
          mine={reading}
          busy={save.isPending}
          onKeepMine={() => save.mutate(theirs)}
          onTakeTheirs={() => {
            setTheirs(undefined);
            setDraft(undefined);
            void queries.invalidateQueries({ queryKey: SOURCES });
          }}
        />
      )}
      <div style={{ display: 'grid', gridTemplateColumns: 'repeat(auto-fit, minmax(280px, 1fr))', gap: 16 }}>
        <div>
          <Text size="sm" fw={600} mb={4}>
            How it is read{' '}
            {source.provider !== 'custom' && (
              <span className={classes.beside}>in addition to {providerName(source.provider)}’s own mapping</span>
            )}
          </Text>
          <Editor
            label="How it is read"
            language="json"
            value={reading}
            onChange={(text) => setDraft({ text, base: draft?.base ?? source })}
            readOnly={!may}
          />
          <Group gap="xs" mt="xs">
            <RoleButton
              needs="editor"
              onClick={() => save.mutate(draft?.base ?? source)}
              loading={save.isPending}
              disabled={reading === stored || theirs !== undefined}
            >
              Save
            </RoleButton>
            <Button variant="default" disabled={reading === stored} onClick={() => setDraft(undefined)}>
              Discard
            </Button>
          </Group>
          {save.isError && (
            <Alert color="red" mt="xs" role="alert">
              {failureText(save.error)}
            </Alert>
          )}
        </div>
        <div>
          <Text size="sm" fw={600} mb={4}>
            A payload
          </Text>
          <Editor label="Payload" language="json" value={text} onChange={setText} />
          {typeHeader !== undefined && (
            <TextInput
              mt="xs"
              label={`Header ${typeHeader}`}
              value={eventType}
              onChange={({ currentTarget }) => setEventType(currentTarget.value)}
            />
          )}
        </div>
        <div>
          <Text size="sm" fw={600} mb={4}>
            The event it becomes
          </Text>
          {result.ok ? (
            <Json value={result.events.length === 1 ? result.events[0] : result.events} label="The event" />
          ) : (
            <Alert color="red">{result.reason}</Alert>
          )}
        </div>
      </div>
    </>
  );
}

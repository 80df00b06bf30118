/** The draft and the revision that it started from, over the last events: what stays, what changes, what is newly dropped. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { Button, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { Json } from '../../components/json.tsx';
import { number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import type { Config } from './draft.ts';
import classes from './mapping.module.css';
import { type Compiled, compareOn, compileDraft, loadDefinition, type Rehearsal } from './rehearse.ts';

export function Trial({
  vendor,
  before,
  after,
  parameters,
  events,
  changes,
}: {
  vendor: string;
  before: Config;
  after: Compiled;
  parameters: Record<string, string>;
  events: CanonicalEvent[];
  changes: readonly string[];
}) {
  const [open, { open: show, close }] = useDisclosure();
  const run = useMutation({
    mutationFn: async () => {
      const definition = await loadDefinition(vendor);
      const old = definition && compileDraft(definition, before, parameters);
      if (old?.ok !== true || !after.ok) throw new Error('The revision in use does not compile; there is nothing to compare with.');
      return { of: after, result: await compareOn(events, old.vendor, after.vendor, new AbortController().signal) };
    },
    onError: (error) => notifications.show({ color: 'red', message: failureText(error) }),
  });
  // A result says nothing about a later draft.
  const result = run.data?.of === after ? run.data.result : undefined;
  return (
    <section className={`panel ${classes.bar}`} aria-label="Effect on recent events">
      <span title={changes.join('\n')}>
        <b>{number(changes.length)}</b> {changes.length === 1 ? 'change' : 'changes'} <span className="dim">to this revision</span>
      </span>
      <Button
        variant="default"
        onClick={() => run.mutate()}
        loading={run.isPending}
        disabled={events.length === 0 || !after.ok || changes.length === 0}
      >
        {events.length === 0 ? 'No recent events to try it on' : `Try on the last ${number(events.length)} events`}
      </Button>
      {result !== undefined && (
        <>
          <Count value={result.same} label="unchanged" />
          <Count value={result.changed} label="changed" tone="var(--accent)" />
          <Count value={result.newlyDropped} label="newly dropped" tone="var(--bad)" />
          <Count value={result.noLongerDropped} label="no longer dropped" tone="var(--accent)" />
          {result.examples.length > 0 && (
            <Button variant="default" onClick={show} ml="auto">
              See examples
            </Button>
          )}
        </>
      )}
      <Modal opened={open} onClose={close} title="Examples" size="90%">
        <Stack gap="md">
          {result?.examples.map(({ event, before: old, after: next }) => (
            <div key={event.event_id}>
              <b>{event.event ?? event.type}</b> <span className="mono dim">{event.event_id}</span>
              <Group grow align="flex-start" mt={4}>
                <Json value={bodyOf(old)} label="Before" maxHeight={320} />
                <Json value={bodyOf(next)} label="After" maxHeight={320} />
              </Group>
            </div>
          ))}
        </Stack>
      </Modal>
    </section>
  );
}
function Count({ value, label, tone }: { value: number; label: string; tone?: string }) {
  return (
    <span role="status">
      <b style={value > 0 && tone !== undefined ? { color: tone } : undefined}>{number(value)}</b> {label}
    </span>
  );
}
/** Headers and addresses are rarely what differs; the bodies are. */
function bodyOf(result: Rehearsal): unknown {
  if (result.kind !== 'requests') return `${result.kind}: ${result.reason}`;
  const bodies = result.requests.map(({ body }) => body);
  return bodies.length === 1 ? bodies[0] : bodies;
}

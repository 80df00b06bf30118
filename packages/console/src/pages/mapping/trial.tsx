/** What differs from the revision in use, and what that does to the last events: what stays, what changes, what is newly dropped. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { Button, Modal, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Loading } from '../../components/states.tsx';
import { number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { ChangeList } from './change-list.tsx';
import type { Change } from './changes.ts';
import type { Config } from './draft.ts';
import classes from './mapping.module.css';
import { type Compiled, compareOn, compileDraft, type Effect, loadDefinition, type Rehearsal } from './rehearse.ts';

const SideBySide = lazy(async () => ({ default: (await import('../../components/side-by-side.tsx')).SideBySide }));
const TONES: Record<Effect, string> = {
  unchanged: 'var(--ink)',
  changed: 'var(--accent)',
  'newly dropped': 'var(--bad)',
  'no longer dropped': 'var(--accent)',
};

export interface TrialProps {
  vendor: string;
  /** The config in use. Undefined while it is being read. */
  before: Config | undefined;
  after: Compiled;
  /** The draft is newer than `after`. */
  isTyping: boolean;
  parameters: Record<string, string>;
  events: readonly CanonicalEvent[];
  isReading: boolean;
  /** From the revision in use to the draft. */
  changes: readonly Change[];
  /** Which revision is in use, and where: with the choice of the integration. */
  inUse: ReactNode;
}

export function Trial({ vendor, before, after, isTyping, parameters, events, isReading, changes, inUse }: TrialProps) {
  const [shown, setShown] = useState<Effect>();
  const run = useMutation({
    mutationFn: async () => {
      const definition = await loadDefinition(vendor);
      const old = definition && before && compileDraft(definition, before, parameters);
      if (old?.ok !== true || !after.ok) throw new Error('The revision in use does not compile; there is nothing to compare with.');
      return { of: after, against: before, result: await compareOn(events, old.vendor, after.vendor) };
    },
    onError: (error) => notifications.show({ color: 'red', message: failureText(error) }),
  });
  // A result says nothing about a later draft, nor about another integration.
  const result = run.data?.of === after && run.data.against === before ? run.data.result : undefined;
  const examples = result?.examples.filter(({ effect }) => effect === shown) ?? [];
  const count = result === undefined || shown === undefined ? 0 : result.counts[shown];
  return (
    <section className={`panel ${classes.trial}`} aria-label="Effect on recent events">
      <div className={classes.bar}>
        <span className={classes.inUse}>
          <span>
            <b>{number(changes.length)}</b> {changes.length === 1 ? 'change' : 'changes'} from
          </span>
          {inUse}
        </span>
        <Button
          variant="default"
          onClick={() => run.mutate()}
          loading={run.isPending}
          disabled={isTyping || events.length === 0 || !after.ok || changes.length === 0 || before === undefined}
        >
          {isReading
            ? 'Reading recent events …'
            : events.length === 0
              ? 'No recent events to try it on'
              : `Try on the last ${number(events.length)} events`}
        </Button>
        {result !== undefined && (
          <span role="status" className={classes.counts}>
            {(Object.entries(result.counts) as [Effect, number][]).map(([effect, count]) =>
              count === 0 ? (
                <span key={effect} className="dim">
                  0 {effect}
                </span>
              ) : (
                <button key={effect} type="button" className={classes.count} onClick={() => setShown(effect)}>
                  <b style={{ color: TONES[effect] }}>{number(count)}</b> {effect}
                </button>
              ),
            )}
          </span>
        )}
      </div>
      <ChangeList changes={changes} />
      <Modal
        opened={shown !== undefined && result !== undefined}
        onClose={() => setShown(undefined)}
        title={`Events ${shown ?? ''}`}
        size="90%"
      >
        <Stack gap="md">
          <p className="dim">
            {examples.length < count && `The newest ${number(examples.length)} of ${number(count)}. `}In use on the left, your draft on the
            right.
          </p>
          {examples.map(({ event, before: old, after: next }) => (
            <div key={event.event_id}>
              <b>{event.event ?? event.type}</b>{' '}
              <Link to="/events" search={{ selected: event.event_id } as never} className="mono">
                {event.event_id}
              </Link>
              <Suspense fallback={<Loading what="the comparison" />}>
                <SideBySide left={textOf(old)} right={textOf(next)} />
              </Suspense>
            </div>
          ))}
        </Stack>
      </Modal>
    </section>
  );
}

/** Headers and addresses are rarely what differs; the bodies are. */
function textOf(result: Rehearsal): string {
  if (result.kind !== 'requests') return `${result.kind}: ${result.reason}`;
  const bodies = result.requests.map(({ body }) => body);
  return JSON.stringify(bodies.length === 1 ? bodies[0] : bodies, null, 2);
}

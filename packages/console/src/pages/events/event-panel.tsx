/** The life of one event: received, each step with what it decided, each integration with its attempts and the reason in one sentence. */
import { CloseButton, Group, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag, type Tone, toneOf, words } from '../../components/tag.tsx';
import { clockTime, milliseconds } from '../../format.ts';
import { CopyAsCurl } from './event-actions.tsx';
import { EventName } from './event-table.tsx';
import classes from './events.module.css';

const REFRESH_WHILE_WAITING_MS = 3_000;

export const eventQuery = (eventId: string) => ({
  queryKey: ['event', eventId],
  queryFn: () => call(api.GET('/v1/admin/events/{event_id}', { params: { path: { event_id: eventId } } })),
});
type Found = Awaited<ReturnType<ReturnType<typeof eventQuery>['queryFn']>>;
type Rejected = Extract<Found, { status: 'rejected' }>;
type Explained = Exclude<Found, Rejected>;
const isRejected = (found: Found): found is Rejected => 'dead_letter_id' in found;

export function EventPanel({ eventId, onClose }: { eventId: string; onClose: () => void }) {
  const query = useQuery({
    ...eventQuery(eventId),
    refetchInterval: ({ state }) =>
      state.data !== undefined &&
      !isRejected(state.data) &&
      state.data.deliveries.some(({ status }) => status === 'waiting' || status === 'retrying')
        ? REFRESH_WHILE_WAITING_MS
        : false,
    // A live row may be clicked before its trace is written, which takes two seconds, longer on a busy machine.
    retry: 10,
    retryDelay: 1_000,
  });
  return (
    <section className={`panel ${classes.panel}`} aria-label="Event">
      {query.isPending ? (
        <Loading what="the event" />
      ) : query.isError ? (
        <Failed error={query.error} retry={() => void query.refetch()} />
      ) : isRejected(query.data) ? (
        <Rejection event={query.data} onClose={onClose} />
      ) : (
        <Explanation event={query.data} onClose={onClose} />
      )}
    </section>
  );
}

/** An event that was refused at the door: why, and where its copy waits to be corrected and sent again. */
function Rejection({ event, onClose }: { event: Rejected; onClose: () => void }) {
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          <Title order={2}>Rejected event</Title>
          <Tag tone="bad">{event.reason}</Tag>
        </Group>
        <CloseButton aria-label="Close" onClick={onClose} />
      </Group>
      <div className="mono dim">{event.event_id}</div>
      <p>{event.message}</p>
      <p>
        It was received at {clockTime(event.received_at)} and is kept as a{' '}
        <Link to="/dead-letters" search={{ stage: 'ingest', selected: event.dead_letter_id }}>
          dead letter
        </Link>
        , where it can be corrected and sent again.
      </p>
      <Json value={event.raw} label="Event as received" />
    </>
  );
}

function Explanation({ event, onClose }: { event: Explained; onClose: () => void }) {
  const { deliveries } = event;
  const undelivered = deliveries.filter(({ status }) => status !== 'delivered').length;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          <Title order={2}>
            <EventName row={event} />
          </Title>
          {deliveries.length > 0 && (
            <Tag tone={undelivered === 0 ? 'ok' : 'warn'}>
              {undelivered === 0 ? `delivered to all ${deliveries.length}` : `${undelivered} of ${deliveries.length} not delivered`}
            </Tag>
          )}
        </Group>
        <CloseButton aria-label="Close" onClick={onClose} />
      </Group>
      <div className="mono dim">{event.event_id}</div>
      <Group gap="xs" mt="sm">
        <CopyAsCurl event={event} />
      </Group>
      <Tabs defaultValue="life" mt="sm" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="life">What happened</Tabs.Tab>
          <Tabs.Tab value="event">Processed event</Tabs.Tab>
          <Tabs.Tab value="received">As received</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="life">
          <Life event={event} />
        </Tabs.Panel>
        <Tabs.Panel value="event" pt="sm">
          {event.event === null ? (
            <p className="dim">The event was dropped before it was stored.</p>
          ) : (
            <Json value={event.event} label="Processed event" />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="received" pt="sm">
          <Json value={event.received ?? null} label="Event as received" />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

interface StepRecord {
  stage?: string;
  time?: string;
  step?: string;
  result?: string;
  changed?: string[];
  detail?: string;
}

function Life({ event }: { event: Explained }) {
  const start = Date.parse(event.received_at);
  const steps = event.steps as StepRecord[];
  return (
    <ol className={classes.timeline}>
      <Step title="Received" when={clockTime(event.received_at)} tone="ok" />
      {steps
        .filter(({ stage }) => stage === 'processing')
        .map((step, at) => (
          <Step
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have an order and no id
            key={at}
            title={STEP_NAMES[step.step ?? ''] ?? words(step.step ?? '')}
            tone={step.result === 'dropped' || step.result === 'failed' ? 'bad' : 'ok'}
            when={since(start, step.time)}
            marks={<StepResult step={step} />}
          >
            {step.changed !== undefined && step.changed.length > 0 && <span className="mono">{step.changed.join(', ')}</span>}
          </Step>
        ))}
      {event.status !== 'processed' && event.reason !== null && (
        <Step title={words(event.status)} tone="bad" when="">
          {words(event.reason)}
        </Step>
      )}
      {event.deliveries.map((delivery) => {
        const last = delivery.attempts.at(-1);
        return (
          <Step
            key={delivery.integration_id}
            title={
              <Link to="/pipelines/$pipelineId" params={{ pipelineId: event.pipeline_id }} search={{ tab: 'integrations' }}>
                {delivery.name ?? delivery.integration_id}
              </Link>
            }
            tone={toneOf(delivery.status)}
            when={since(start, last?.at)}
            marks={
              <>
                <Tag tone={toneOf(delivery.status)}>{words(delivery.status)}</Tag>
                {last !== undefined && (
                  <span className="dim">
                    {last.status ?? 'no answer'} · {milliseconds(last.duration_ms)}
                    {delivery.attempts.length > 1 && ` · ${delivery.attempts.length} attempts`}
                  </span>
                )}
              </>
            }
          >
            {delivery.status !== 'delivered' && (
              <>
                {delivery.explanation} {last?.error && <span className="mono">{last.error}</span>}
              </>
            )}
          </Step>
        );
      })}
    </ol>
  );
}

const STEP_NAMES: Record<string, string> = {
  context: 'Context',
  consent: 'Consent',
  bots: 'Bots',
  pii: 'Privacy',
  session: 'Session',
  identity: 'Identity',
  custom_code: 'Custom code',
  routing: 'Routing rules',
  tracking_plan: 'Tracking plan',
  transformation: 'Transformation',
};
function StepResult({ step }: { step: StepRecord }) {
  if (step.step === 'consent' && step.detail !== undefined)
    return step.detail.split(' ').map((category) => (
      <Tag key={category} tone="ok">
        {category}
      </Tag>
    ));
  return (
    <span className="dim">
      {words(step.result ?? '')} {step.step === 'transformation' ? '' : (step.detail ?? '')}
    </span>
  );
}
function since(start: number, at: string | undefined): string {
  return at === undefined ? '' : `+${milliseconds(Date.parse(at) - start)}`;
}
function Step({
  title,
  marks,
  when,
  tone,
  children,
}: {
  title: ReactNode;
  marks?: ReactNode;
  when: string;
  tone: Tone;
  children?: ReactNode;
}) {
  return (
    <li className={classes.step} data-tone={tone}>
      <div className={classes.line}>
        <span className={classes.what}>
          <b>{title}</b>
          {marks}
        </span>
        <span className={`mono ${classes.when}`}>{when}</span>
      </div>
      {children ? <div className={classes.detail}>{children}</div> : null}
    </li>
  );
}

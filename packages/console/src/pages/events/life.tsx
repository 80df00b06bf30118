/** The vertical timeline of an event. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, call } from '../../api.ts';
import { Tag, words } from '../../components/tag.tsx';
import { bytes, clockTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { Delivery } from './delivery.tsx';
import { Diff } from './diff.tsx';
import { changesQuery, type Explained } from './event-query.ts';
import classes from './events.module.css';
import { Step, since, stepName } from './step.tsx';
import { INEXACT, linesOf, type StepRecord } from './step-diff.ts';

export interface OpenRequest {
  /** The integration whose request is open. */
  request: string | undefined;
  onRequest: (integrationId: string | undefined) => void;
}

export function Life({ event, request, onRequest }: { event: Explained } & OpenRequest) {
  const start = Date.parse(event.received_at);
  const steps = (event.steps as StepRecord[]).filter(({ stage }) => stage === 'processing');
  const changes = useQuery({ ...changesQuery(event), enabled: steps.length > 0, retry: false });
  const { lines, about } = linesOf(steps, event.received, event.event, changes.data);
  const transformations = useQuery({
    queryKey: ['transformations', event.pipeline_id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/transformations', { params: { path: { id: event.pipeline_id } } })),
    staleTime: 60_000,
    enabled: steps.some(({ step }) => step === 'transformation'),
  });
  const names = new Map(transformations.data?.transformations.map(({ id, name }) => [id, name]));
  return (
    <ol className={classes.timeline}>
      <Step title="Received" when={clockTime(event.received_at)} tone="ok" marks={<span className="dim">{originOf(event)}</span>}>
        <RequestFacts event={event} />
      </Step>
      {steps.map((step, at) => (
        <Step
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have an order and no id
          key={at}
          title={stepName(step.step ?? '')}
          tone={step.result === 'dropped' || step.result === 'failed' ? 'bad' : step.result === 'flagged' ? 'warn' : 'ok'}
          when={since(start, step.time)}
          marks={<StepResult step={step} names={names} />}
        >
          <Diff lines={lines[at] ?? []} open={!QUIET.has(step.step ?? '')} />
        </Step>
      ))}
      {changes.isError ? (
        <li className={`dim ${classes.aside}`}>
          The event could not be run again: {failureText(changes.error)} {INEXACT}
        </li>
      ) : (
        about !== undefined && <li className={`dim ${classes.aside}`}>{about}</li>
      )}
      {event.status !== 'processed' && event.reason !== null && (
        <Step title={words(event.status)} tone="bad" when="">
          <div className={classes.detail}>{event.deliveries[0]?.explanation ?? words(event.reason)}</div>
        </Step>
      )}
      {event.deliveries.map((delivery) => (
        <Delivery
          key={delivery.integration_id}
          event={event}
          delivery={delivery}
          open={request === delivery.integration_id}
          onOpen={(open) => onRequest(open ? delivery.integration_id : undefined)}
        />
      ))}
    </ol>
  );
}
const ENDPOINTS = { browser: 'browser endpoint', server: 'server endpoint', webhook: 'webhook' } as const;

function originOf({ request, event }: Explained): string {
  if (request === null)
    return (event?.context as { source?: unknown } | undefined)?.source === 'webhook' ? 'webhook' : 'collection endpoint';
  return [ENDPOINTS[request.source], bytes(request.bytes), request.ip].filter((part) => part !== undefined).join(' · ');
}
/** Said below the request: what is missing there was not stored. */
const KEPT =
  'Only the headers that processing needs are kept, user-agent and sec-gpc, and the names of vendors’ cookies. Others may hold credentials or personal data, and would be stored with every event.';

/** What is kept of the request. */
function RequestFacts({ event: { request, log_available } }: { event: Explained }) {
  if (request === null)
    return (
      <div className={classes.detail}>
        {log_available
          ? 'The request is no longer retained.'
          : 'The event log cannot be read now: the request and the event are missing here.'}
      </div>
    );
  const { headers, cookies, webhook_source_id, replay_of } = request;
  const rows: [name: string, value: ReactNode][] = [
    ...Object.entries(headers),
    ...(cookies.length === 0 ? [] : [['cookies of vendors', cookies.join(', ')] satisfies [string, ReactNode]]),
    ...(webhook_source_id === undefined
      ? []
      : [
          [
            'source',
            <Link key="source" to="/sources" search={{ selected: webhook_source_id }}>
              {webhook_source_id}
            </Link>,
          ] satisfies [string, ReactNode],
        ]),
    ...(replay_of === undefined
      ? []
      : [
          [
            'replay of',
            <Link key="letter" to="/dead-letters" search={{ selected: replay_of }}>
              {replay_of}
            </Link>,
          ] satisfies [string, ReactNode],
        ]),
  ];
  return (
    <>
      {rows.length > 0 && (
        <dl className={`mono ${classes.facts}`} aria-label="Request">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <details className={`dim ${classes.detail}`}>
        <summary>What is kept of a request</summary>
        {KEPT}
      </details>
    </>
  );
}

function StepResult({ step, names }: { step: StepRecord; names: ReadonlyMap<string, string> }) {
  if (step.step === 'consent' && step.detail !== undefined)
    return step.detail
      .split(' ')
      .filter((category) => category !== '')
      .map((category) => (
        <Tag key={category} tone="ok">
          {category}
        </Tag>
      ));
  const detail = step.step === 'transformation' && step.detail !== undefined ? (names.get(step.detail) ?? step.detail) : step.detail;
  return (
    <span className="dim">
      {words(step.result ?? '')} {detail ?? ''}
    </span>
  );
}

/** Steps that add to every event: their diff is closed to begin with. */
const QUIET: ReadonlySet<string> = new Set(['context', 'consent', 'bots', 'session', 'memory']);

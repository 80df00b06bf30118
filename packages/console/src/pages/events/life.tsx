/** The vertical timeline of an event. */
import { useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Tag, words } from '../../components/tag.tsx';
import { bytes, clockTime } from '../../format.ts';
import { Delivery } from './delivery.tsx';
import type { Explained } from './event-query.ts';
import classes from './events.module.css';
import { Step, since } from './step.tsx';
import { type DiffLine, diffsOf, type StepRecord } from './step-diff.ts';

const STEP_NAMES: Record<string, string> = {
  context: 'Context',
  consent: 'Consent',
  bots: 'Bots',
  pii: 'Privacy',
  session: 'Session',
  identity: 'Identity',
  memory: 'Visitor memory',
  custom_code: 'Custom code',
  routing: 'Routing rules',
  tracking_plan: 'Tracking plan',
  transformation: 'Transformation',
  processing: 'Processing',
};

export function Life({ event }: { event: Explained }) {
  const start = Date.parse(event.received_at);
  const steps = (event.steps as StepRecord[]).filter(({ stage }) => stage === 'processing');
  const diffs = diffsOf(steps, event.received, event.event);
  const transformations = useQuery({
    queryKey: ['transformations', event.pipeline_id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/transformations', { params: { path: { id: event.pipeline_id } } })),
    staleTime: 60_000,
    enabled: steps.some(({ step }) => step === 'transformation'),
  });
  const names = new Map(transformations.data?.transformations.map(({ id, name }) => [id, name]));
  return (
    <ol className={classes.timeline}>
      <Step title="Received" when={clockTime(event.received_at)} tone="ok" marks={<span className="dim">{originOf(event)}</span>} />
      {steps.map((step, at) => (
        <Step
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have an order and no id
          key={at}
          title={STEP_NAMES[step.step ?? ''] ?? words(step.step ?? '')}
          tone={step.result === 'dropped' || step.result === 'failed' ? 'bad' : step.result === 'flagged' ? 'warn' : 'ok'}
          when={since(start, step.time)}
          marks={<StepResult step={step} names={names} />}
        >
          <Diff lines={diffs[at] ?? []} open={!QUIET.has(step.step ?? '')} />
        </Step>
      ))}
      {event.status !== 'processed' && event.reason !== null && (
        <Step title={words(event.status)} tone="bad" when="">
          <div className={classes.detail}>{event.deliveries[0]?.explanation ?? words(event.reason)}</div>
        </Step>
      )}
      {event.deliveries.map((delivery) => (
        <Delivery key={delivery.integration_id} event={event} delivery={delivery} />
      ))}
    </ol>
  );
}
function originOf({ received, event }: Explained): string {
  const context = (event?.context ?? {}) as { ip?: unknown; source?: unknown };
  const size = received === null || received === undefined ? [] : [bytes(new TextEncoder().encode(JSON.stringify(received)).length)];
  return [
    context.source === 'webhook' ? 'webhook' : 'collection endpoint',
    ...size,
    typeof context.ip === 'string' ? context.ip : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
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
const FEW = 6;
function Diff({ lines, open }: { lines: readonly DiffLine[]; open: boolean }) {
  if (lines.length === 0) return null;
  const shown = (part: readonly DiffLine[]) =>
    part.map(({ path, before, after }) => (
      <div key={path}>
        {before !== undefined && <div className={classes.gone}>{`− ${path}  ${compact(before)}`}</div>}
        {after === undefined ? (
          before === undefined && <div>{path}</div>
        ) : (
          <div className={classes.come}>{`+ ${path}  ${compact(after)}`}</div>
        )}
      </div>
    ));
  if (!open)
    return (
      <details className={`mono ${classes.diff}`}>
        <summary>{lines.map(({ path }) => path).join(', ')}</summary>
        {shown(lines)}
      </details>
    );
  return (
    <div className={`mono ${classes.diff}`}>
      {shown(lines.slice(0, FEW))}
      {lines.length > FEW && (
        <details>
          <summary>{lines.length - FEW} more</summary>
          {shown(lines.slice(FEW))}
        </details>
      )}
    </div>
  );
}
function compact(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 140 ? `${text.slice(0, 139)}…` : text;
}

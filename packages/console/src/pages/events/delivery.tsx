/** One integration in an event's life: the result in one sentence, the way to mend it, each attempt, the request and the answer. */
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { api, call } from '../../api.ts';
import { Attempt } from '../../components/attempt.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { Reason } from '../../components/reason.tsx';
import { Loading } from '../../components/states.tsx';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { clockTime, milliseconds, number } from '../../format.ts';
import { type Integration, integrationsQuery } from '../../queries.ts';
import type { Explained } from './event-query.ts';
import classes from './events.module.css';
import { Step, since } from './step.tsx';

const DeliveryRequests = lazy(async () => ({ default: (await import('./delivery-requests.tsx')).DeliveryRequests }));
type DeliveryResult = Explained['deliveries'][number];

const stepId = (integrationId: string): string => `step-${integrationId}`;
/** Brings the integration's step into view, with the focus on its name. */
export function showStep(integrationId: string): void {
  const link = document.getElementById(stepId(integrationId));
  link?.scrollIntoView({ block: 'center' });
  link?.focus();
}

export function Delivery({
  event,
  delivery,
  open,
  onOpen,
}: {
  event: Explained;
  delivery: DeliveryResult;
  open: boolean;
  onOpen: (open: boolean) => void;
}) {
  const integrations = useQuery({ ...integrationsQuery(event.pipeline_id), refetchInterval: false });
  const integration = integrations.data?.integrations.find(({ id }) => id === delivery.integration_id);
  const { attempts, status } = delivery;
  const last = attempts.at(-1);
  return (
    <Step
      title={
        <Link
          id={stepId(delivery.integration_id)}
          to="/pipelines/$pipelineId"
          params={{ pipelineId: event.pipeline_id }}
          search={{ tab: 'integrations', integration: delivery.integration_id }}
        >
          {delivery.name ?? delivery.integration_id}
        </Link>
      }
      tone={toneOf(status)}
      when={since(Date.parse(event.received_at), last?.at)}
      marks={
        <>
          <Tag tone={toneOf(status)}>{status === 'dead_lettered' ? 'dead letter' : words(status)}</Tag>
          {last !== undefined && (
            <span className="dim">
              {last.status ?? 'no answer'} · {milliseconds(last.duration_ms)}
              {attempts.length > 1 && ` · ${attempts.length} attempts`}
            </span>
          )}
          <button type="button" className={classes.toggle} onClick={() => onOpen(!open)} aria-expanded={open}>
            {open ? 'Less' : attempts.length > 0 ? 'Request and answer' : 'Request'}
          </button>
        </>
      }
    >
      {status !== 'delivered' && <Why event={event} delivery={delivery} integration={integration} />}
      {open && (
        <div className={classes.detail}>
          {attempts.length > 0 && <Attempts attempts={attempts} />}
          {integration === undefined ? (
            <p className="dim">The integration was deleted, so its request cannot be rebuilt.</p>
          ) : event.event === null ? (
            <p className="dim">The event was not stored, so there is no request.</p>
          ) : (
            <Suspense fallback={<Loading what="the request" />}>
              <DeliveryRequests event={event.event} pipelineId={event.pipeline_id} integration={integration} delivery={delivery} />
            </Suspense>
          )}
        </div>
      )}
    </Step>
  );
}

function Attempts({ attempts }: { attempts: DeliveryResult['attempts'] }) {
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt) => (
        <li key={attempt.at}>
          <Attempt attempt={attempt} time={clockTime(attempt.at)} />
          {attempt.answer !== null && <pre className={`mono ${classes.answer}`}>{attempt.answer}</pre>}
          {attempt.error === null && attempt.answer === null && (
            <div className="dim">No answer text: it was empty, or not kept. One a second is kept for each integration.</div>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Why it was not delivered, and what can be done about it. */
function Why({ event, delivery, integration }: { event: Explained; delivery: DeliveryResult; integration: Integration | undefined }) {
  const { status, reason, explanation } = delivery;
  const failed = status === 'dead_lettered' || status === 'retrying';
  return (
    <div className={classes.detail}>
      {failed && reason !== null ? <Reason text={reason} long /> : explanation}
      {failed && reason !== null && <div className="dim">{explanation.split(':', 1)[0]}.</div>}
      <Group gap="xs" mt={6}>
        {(failed || isMapping(reason)) && integration !== undefined && (
          // With this event in it: the request that failed is what the builder shows.
          <LinkButton
            variant="filled"
            to={`/templates/${integration.template_id}`}
            search={{
              integration: integration.id,
              ...(event.event === null ? {} : { event: event.event_id }),
            }}
            size="compact-xs"
          >
            Open the mapping
          </LinkButton>
        )}
        {status === 'dead_lettered' && <SameFailure integrationId={delivery.integration_id} reason={reason} />}
        {reason === 'consent_not_granted' && (
          <LinkButton to={`/pipelines/${event.pipeline_id}`} search={{ tab: 'consent' }} size="compact-xs">
            Consent settings
          </LinkButton>
        )}
      </Group>
    </div>
  );
}
/** The dead letters with the same reason, and how many there are. */
function SameFailure({ integrationId, reason }: { integrationId: string; reason: string | null }) {
  const which = reason === null ? {} : { reason };
  const { data: total } = useQuery({
    queryKey: ['dead-letter-count', integrationId, reason],
    queryFn: async () =>
      (await call(api.GET('/v1/admin/dlq', { params: { query: { integration_id: integrationId, limit: 1, ...which } } }))).total,
    staleTime: 30_000,
  });
  return (
    <LinkButton to="/dead-letters" search={{ integration: integrationId, status: 'all', ...which }} size="compact-xs">
      {total === undefined || total < 2 ? 'All that failed this way' : `All ${number(total)} that failed this way`}
    </LinkButton>
  );
}
function isMapping(reason: string | null): boolean {
  return reason !== null && (reason.startsWith('mapping_') || reason.startsWith('missing_required'));
}

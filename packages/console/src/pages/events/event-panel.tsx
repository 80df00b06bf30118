/** The life of one event: received, each step with what it changed, each integration with its attempts and the reason in one sentence. */
import { CloseButton, Group, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Copy, Json } from '../../components/json.tsx';
import { RefusedSender } from '../../components/refused-sender.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { clockTime } from '../../format.ts';
import { showStep } from './delivery.tsx';
import { EventActions } from './event-actions.tsx';
import { type Explained, eventQuery, isRejected, type Rejected } from './event-query.ts';
import { EventName } from './event-table.tsx';
import classes from './events.module.css';
import { Life } from './life.tsx';

const REFRESH_WHILE_WAITING_MS = 5_000;

/** What is open in the panel; it stands in the address bar. */
export interface PanelView {
  /** The tab. */
  view: string | undefined;
  /** The integration whose request is shown. */
  request: string | undefined;
  onView: (next: { view?: string | undefined; request?: string | undefined }, replace: boolean) => void;
}

export function EventPanel({
  eventId,
  pipelineId,
  onClose,
  ...view
}: { eventId: string; pipelineId: string | undefined; onClose: () => void } & PanelView) {
  const query = useQuery({
    ...eventQuery(eventId, pipelineId),
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
  const panel = useReturnFocus<HTMLElement>();
  return (
    <section ref={panel} className={`panel ${classes.panel}`} aria-label="Event">
      {query.isPending ? (
        <>
          <Close onClose={onClose} />
          <Loading what="the event" />
        </>
      ) : query.isLoadingError ? (
        <>
          <Close onClose={onClose} />
          <Failed error={query.error} retry={() => void query.refetch()} />
        </>
      ) : isRejected(query.data) ? (
        <Rejection event={query.data} onClose={onClose} />
      ) : (
        <Explanation event={query.data} onClose={onClose} {...view} />
      )}
    </section>
  );
}
function Close({ onClose }: { onClose: () => void }) {
  return <CloseButton className={classes.close} aria-label="Close" onClick={onClose} />;
}

/** An event that was refused at the door: why, and where its copy waits to be corrected and sent again. */
function Rejection({ event, onClose }: { event: Rejected; onClose: () => void }) {
  const isWebhook = event.reason === 'webhook_rejected';
  return (
    <>
      <Close onClose={onClose} />
      <Group gap="xs">
        <Title order={2}>Rejected {isWebhook ? 'webhook' : 'event'}</Title>
        <Tag tone="bad">{event.reason}</Tag>
      </Group>
      <div className="mono dim">{event.event_id}</div>
      <p>{event.message}</p>
      <RefusedSender sender={event.sender} />
      <p>
        It was received at {clockTime(event.received_at)} and is kept as a{' '}
        <Link to="/dead-letters" search={{ stage: isWebhook ? 'webhook' : 'ingest', selected: event.dead_letter_id }}>
          dead letter
        </Link>
        {isWebhook ? ', which can be replayed once the cause is fixed.' : ', where it can be corrected and sent again.'}
      </p>
      <Json value={event.raw} label={`${isWebhook ? 'Webhook' : 'Event'} as received`} />
    </>
  );
}

const TABS = ['life', 'event', 'received'];

function Explanation({ event, onClose, view, request, onView }: { event: Explained; onClose: () => void } & PanelView) {
  const { deliveries } = event;
  const failed = deliveries.filter(({ status }) => status === 'dead_lettered').length;
  const undelivered = deliveries.filter(({ status }) => status !== 'delivered').length;
  const tab = view !== undefined && TABS.includes(view) ? view : 'life';
  const setTab = (next: string | null) => onView({ view: next === 'life' || next === null ? undefined : next }, true);
  const [asked, setAsked] = useState<{ id: string }>();
  const explain = (id: string) => {
    setTab('life');
    setAsked({ id });
  };
  useEffect(() => {
    if (asked !== undefined) showStep(asked.id);
  }, [asked]);
  return (
    <>
      <Close onClose={onClose} />
      <Group gap="xs" pr={32}>
        <Title order={2}>
          <EventName row={event} />
        </Title>
        {deliveries.length > 0 && (
          <Tag tone={undelivered === 0 ? 'ok' : failed > 0 ? 'bad' : 'warn'}>
            {undelivered === 0 ? `delivered to all ${deliveries.length}` : `${undelivered} of ${deliveries.length} not delivered`}
          </Tag>
        )}
      </Group>
      <div className={`mono dim ${classes.id}`}>
        {event.event_id} <Copy text={event.event_id} label="Copy the event id" inline />
      </div>
      <EventActions event={event} onWhy={explain} />
      <Tabs value={tab} onChange={setTab} mt="sm" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="life">What happened</Tabs.Tab>
          <Tabs.Tab value="event">Processed</Tabs.Tab>
          <Tabs.Tab value="received">Received</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="life">
          <Life event={event} request={request} onRequest={(id) => onView({ request: id }, true)} />
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

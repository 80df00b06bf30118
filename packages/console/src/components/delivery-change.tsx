/** What a change of an integration does to its events, for the question before it. */
import { events } from '../format.ts';
import { LastDay } from './last-day.tsx';

interface Props {
  integrationId: string;
}
const delivered = ({ delivered: count }: { delivered: number }): string => `In the last 24 hours it delivered ${events(count)}.`;

function heldBack({ dropped: { consent_not_granted: count = 0 } }: { dropped: Record<string, number> }): string {
  return `In the last 24 hours ${events(count)} ${count === 1 ? 'was' : 'were'} held back from it for consent.`;
}

export function ConsentChange({ integrationId, category }: Props & { category: string | null }) {
  return (
    <p>
      {category === null
        ? 'It then gets the events of every visitor, also of those who refused. '
        : `It then gets only events of visitors who agreed to ${category}. `}
      <LastDay integrationId={integrationId}>{category === null ? heldBack : delivered}</LastDay>
    </p>
  );
}

export function RevisionChange({ integrationId, from, to }: Props & { from: number; to: number }) {
  return (
    <p>
      Its events are mapped by revision {to} instead of {from} within five seconds.{' '}
      <LastDay integrationId={integrationId}>{delivered}</LastDay>
    </p>
  );
}

export function EventsChange({ integrationId, names }: Props & { names: readonly string[] }) {
  return (
    <p>
      {names.length === 0 ? 'It then gets every event. ' : `It then gets only ${names.join(', ')}; all other events are dropped for it. `}
      <LastDay integrationId={integrationId}>{delivered}</LastDay>
    </p>
  );
}

export function DeliveryEnd({ integrationId, children }: Props & { children: string }) {
  return (
    <p>
      {children} <LastDay integrationId={integrationId}>{delivered}</LastDay>
    </p>
  );
}

import { type CanonicalEvent, isNamedIn } from '@firsthand/core/event/canonical.ts';
import { allowsIntegration } from '@firsthand/core/event/integrations.ts';
import { isObject, own } from '@firsthand/core/json.ts';
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import { replaysDeadLetter, type SharedMeta } from '../../event-record.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import { readRetryState } from './retry-state.ts';
import type { HeldEvent, Settlement } from './settlement.ts';

/** What an integration does with events in general, before a single one is read. */
export type Mode =
  | { kind: 'send' }
  /** The config does not compile: events wait in the log until it does. */
  | { kind: 'wait' }
  | { kind: 'drop'; reason: DropReason };

export function modeOf(compiled: CompiledIntegration): Mode {
  if (compiled.integration.delivery_mode === 'client_side') return { kind: 'drop', reason: 'client_side' };
  if (!compiled.integration.enabled) return { kind: 'drop', reason: 'integration_disabled' };
  return compiled.vendor === undefined ? { kind: 'wait' } : { kind: 'send' };
}

/**
 * What becomes of an event that the integration does not send at all. The replay of a dead letter becomes a dead letter again: the old one
 * counts as replayed, and a replay of history would not bring back all of them. Without the integration there is nothing to replay to.
 */
export function settleUnsent({ delivery, replay }: HeldEvent, reason: DropReason): Settlement {
  const isKept = replay && replaysDeadLetter(delivery.record.id) && (reason === 'integration_disabled' || reason === 'client_side');
  if (!isKept) return { kind: 'dropped', reason };
  return { kind: 'dead_letter', stage: 'delivery', reason, attempts: readRetryState(delivery.state)?.attempts ?? [] };
}

type FindDropReason = (event: CanonicalEvent) => DropReason | undefined;

/** An integration's configuration, prepared for its events. */
export interface Plan {
  compiled: CompiledIntegration;
  /** Event filter and consent; undefined where every event passes. */
  dropReason: FindDropReason | undefined;
  /** False where the stored bytes are sent as they are and the event need not be parsed. */
  readsEvent: boolean;
}
export function planOf(compiled: CompiledIntegration): Plan {
  const dropReason = filterOf(compiled);
  return { compiled, dropReason, readsEvent: dropReason !== undefined || compiled.vendor?.verbatim === undefined };
}

function filterOf({ integration, vendor }: CompiledIntegration): FindDropReason | undefined {
  const names = integration.event_filter?.event_names;
  const wanted = names === undefined || names.length === 0 ? undefined : new Set(names);
  const category = integration.consent_category ?? vendor?.consent_category ?? null;
  if (wanted === undefined && category === null) return undefined;
  return (event) => {
    if (wanted !== undefined && !isNamedIn(wanted, event)) return 'event_filtered';
    if (category !== null && !consentGranted(event, category)) return 'consent_not_granted';
    return undefined;
  };
}

/** Only a literal `true` is consent: a category that is missing on the event is not granted. */
function consentGranted(event: CanonicalEvent, category: string): boolean {
  const consent = isObject(event.context) ? own(event.context, 'consent') : undefined;
  const canonical = isObject(consent) ? own(consent, 'canonical') : undefined;
  return isObject(canonical) && own(canonical, category) === true;
}

/** Whether the event's own `integrations` object switches this integration off. */
export function isDisabledByEvent({ integrations }: SharedMeta, { integration, vendor_name }: CompiledIntegration): boolean {
  return !allowsIntegration(integrations, { id: integration.id, vendor: integration.vendor, vendor_name });
}

/**
 * Lanes: the parts of an integration's traffic that different processes deliver. A visitor always belongs to one lane, so order per
 * visitor holds. Every lane is a group of its own in the log.
 *
 * A change of their number starts a generation. Each record belongs to the generation of its append time, so every process assigns it to the
 * same lane. A generation starts when the lanes before it have tried all of their records.
 */
import { effectiveRate } from '@firsthand/core/delivery/rate.ts';
import type { EventHead } from '@firsthand/core/event/canonical.ts';
import { visitorOf } from '@firsthand/core/event/canonical.ts';
import { fnv1a } from '@firsthand/core/hash/fnv1a.ts';
import { openEventRecord } from '../../event-record.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';

export interface Lane {
  integrationId: string;
  generation: number;
  index: number;
  /** Lanes in this generation. */
  count: number;
  /** Append times of its records, milliseconds since 1970. The newest generation has no end. */
  from: number;
  to: number | undefined;
}

/** The only lane of an integration whose `max_deliverers` has never been changed. */
export function onlyLane(integrationId: string): Lane {
  return { integrationId, generation: 0, index: 0, count: 1, from: 0, to: undefined };
}

/** The group that reads the lane. The first generation keeps the integration's id. */
export function groupOf({ integrationId, generation, index, count }: Lane): string {
  return generation === 0 ? integrationId : `${integrationId}~${generation}-${index}-${count}`;
}
/** For a group whose integration is gone: its times are not known any more. */
export function laneOfGroup(group: string): Lane {
  const [integrationId = group, rest] = group.split('~');
  const [generation = 0, index = 0, count = 1] = (rest ?? '').split('-').filter(Boolean).map(Number);
  return { ...onlyLane(integrationId), generation, index, count };
}

/** How many lanes the configuration asks for. Undefined while it does not compile: the number stays as it is. */
export function wantedLanes({ integration, vendor }: CompiledIntegration): number | undefined {
  if (vendor === undefined) return undefined;
  // A day's count is kept by one process, and the order of a vendor's lane (a file, a partition) spans visitors.
  if (effectiveRate(integration, vendor.rate).daily > 0 || vendor.ordering === 'lane') return 1;
  return Math.max(1, Math.min(integration.max_deliverers, vendor.concurrency));
}

/** The requests in flight that one lane may have. Together the lanes keep the integration's limit. */
export function laneConcurrency(concurrency: number, { count }: Lane): number {
  return Math.max(1, Math.floor(concurrency / count));
}

/** Whether a record belongs to the lane. Records after its end are never its own. */
export function isInLane(lane: Lane, record: StoredRecord, ordering: string | undefined): boolean {
  if (record.time < lane.from || (lane.to !== undefined && record.time >= lane.to)) return false;
  return lane.count === 1 || fnv1a(keyOf(record, ordering)) % lane.count === lane.index;
}
function keyOf(record: StoredRecord, ordering: string | undefined): string {
  let head: EventHead;
  try {
    head = openEventRecord(record.data).head;
  } catch {
    return record.id; // its lane makes a dead letter of it
  }
  return ordering === 'user' ? (head.user_id ?? visitorOf(head)) : visitorOf(head);
}

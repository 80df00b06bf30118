import type { Integration } from '@firsthand/core/config/resources.ts';
import { type DecodedEventRecord, unreadableEvent } from '../../event-record.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';

/** Wraps a record that does not decode in the shape of an event, so that its dead letter shows the stored bytes. */
export function unreadable(record: StoredRecord, integration: Integration): DecodedEventRecord {
  const separator = record.id.indexOf(':');
  const event_id = separator < 0 ? record.id : record.id.slice(separator + 1);
  const event = unreadableEvent(event_id, record.time, record.data);
  const shared = { org_id: integration.org_id, pipeline_id: integration.pipeline_id };
  return {
    meta: { ...shared, received_at: record.time },
    shared,
    event_id,
    received_at: record.time,
    json: record.data,
    size: record.data.length,
    event,
    head: event,
    timestamp: event.timestamp,
  };
}

import type { Integration } from '@firsthand/core/config/resources.ts';
import type { DecodedEventRecord } from '../../event-record.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';

const KEPT_BYTES = 65_536;

/** A record that does not decode, in the shape of an event, so that its dead letter shows what was found. */
export function unreadable(record: StoredRecord, integration: Integration): DecodedEventRecord {
  const separator = record.id.indexOf(':');
  return {
    meta: { received_at: record.time, org_id: integration.org_id, pipeline_id: integration.pipeline_id },
    event: {
      event_id: separator < 0 ? record.id : record.id.slice(separator + 1),
      type: 'track',
      timestamp: new Date(record.time).toISOString(),
      context: { unreadable: Buffer.from(record.data.subarray(0, KEPT_BYTES)).toString('utf8') },
    },
  };
}

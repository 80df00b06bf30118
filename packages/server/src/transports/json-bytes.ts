import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';

/** The JSON of a record in UTF-8. Stored events are not copied: never write to the bytes. */
export function jsonBytes(record: TransportRecord): Buffer {
  const json = record.json ?? JSON.stringify(record.values);
  return typeof json === 'string' ? Buffer.from(json) : Buffer.from(json.buffer, json.byteOffset, json.byteLength);
}

import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';

/** The JSON of a record in UTF-8. Stored events are not copied: never write to the bytes. */
export function jsonBytes(record: TransportRecord): Buffer {
  const json = record.json ?? JSON.stringify(record.values);
  if (typeof json === 'string') return Buffer.from(json);
  return Buffer.isBuffer(json) ? json : Buffer.from(json.buffer, json.byteOffset, json.byteLength);
}

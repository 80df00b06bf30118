import { PACKED_BYTES, type PackedRecords, type StoredRecord } from '../port.ts';

export async function* packed(messages: AsyncIterable<StoredRecord[]>): AsyncGenerator<PackedRecords> {
  let records: StoredRecord[] = [];
  let bytes = 0;
  for await (const message of messages)
    for (const record of message) {
      if (bytes + record.data.length > PACKED_BYTES && bytes > 0) {
        yield pack(records, bytes);
        [records, bytes] = [[], 0];
      }
      records.push(record);
      bytes += record.data.length;
    }
  if (records.length > 0) yield pack(records, bytes);
}

function pack(records: readonly StoredRecord[], length: number): PackedRecords {
  const bytes = new Uint8Array(length);
  let end = 0;
  const ends = records.map(({ data }) => {
    bytes.set(data, end);
    return (end += data.length);
  });
  return { bytes, ends, oldest: records.at(-1)!.position };
}

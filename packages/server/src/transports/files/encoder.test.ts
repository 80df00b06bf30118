import { expect, onTestFinished, test } from 'vitest';
import { openEncoder } from './encoder.ts';

const ROWS = 10_000;
function eventWith(properties: number, index: number): Uint8Array {
  const names = Array.from({ length: properties }, (_, n) => [`key_${n}`, n]);
  const event = { event_id: `e${index}`, type: 'track', event: 'Seen', timestamp: '2026-01-01T00:00:00.000Z', context: {} };
  return Buffer.from(JSON.stringify({ ...event, properties: Object.fromEntries(names) }));
}

async function encoded(format: 'csv' | 'parquet'): Promise<void> {
  const encoder = openEncoder();
  onTestFinished(() => encoder.close());
  const rows = Array.from({ length: ROWS }, (_, i) => eventWith(i === 5 ? 1_000 : 1, i));
  const file = await encoder.encode(rows, { format, compression: 'none', flatten: true });
  expect(file.rows).toBe(ROWS);
  const text = Buffer.from(file.bytes).toString('latin1');
  for (const index of [0, 5, ROWS - 1]) expect(text).toContain(`e${index}`);
}
// The thread ran out of memory, and with it ended the files of all integrations; the ten thousand events became dead letters.
test('one event with a thousand properties among ten thousand is encoded with them', () => encoded('csv'));
test('the same as Parquet', { tags: ['long'] }, () => encoded('parquet'));

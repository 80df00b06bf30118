import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startNats } from '../../../../test/servers/index.ts';
import { connectNats, openJetStreamLog } from '../jetstream.ts';
import { RecordTooLarge } from '../port.ts';
import { pack, unpack } from './packing.ts';

const LIMIT = 1_048_576;
const text = Buffer.from('{"a":"b"}'.repeat(200_000));

describe('records near the broker’s size limit', () => {
  test('small records are stored as they are, large ones compressed, and both are read back', () => {
    expect(pack(Buffer.from('{}'), LIMIT)).toEqual({ data: Buffer.from('{}'), encoding: undefined });
    const packed = pack(text, LIMIT);
    expect(packed.data.length).toBeLessThan(LIMIT / 10);
    expect(Buffer.from(unpack(packed.data, packed.encoding)).equals(text)).toBe(true);
  });

  test('a record that does not compress is rejected permanently', () => {
    expect(() => pack(randomBytes(LIMIT), LIMIT)).toThrow(RecordTooLarge);
  });

  test('an event just under the collection limit passes through a real broker, by consumer and by look-up', async () => {
    const nats = await startNats();
    const connection = await connectNats(nats.url);
    const log = await openJetStreamLog({ connection, dedupWindowMs: 60_000, replicas: 1 });
    try {
      const [result] = await log.append([{ topic: 'events.pl_big', records: [{ id: 'big', data: text }] }]);
      expect(Buffer.from((await log.get('events.pl_big', result!.positions[0]!))!.data).equals(text)).toBe(true);
      const received = await new Promise<Uint8Array>((resolve) => {
        const consumer = log.consume('events.pl_big', 'g', { start: 'beginning', maxInFlight: 1, maxBatch: 1 }, async ([delivery]) => {
          await delivery!.ack();
          resolve(delivery!.record.data);
          setImmediate(() => void consumer.stop());
        });
      });
      expect(Buffer.from(received).equals(text)).toBe(true);
      await expect(log.append([{ topic: 'events.pl_big', records: [{ id: 'huge', data: randomBytes(LIMIT) }] }])).rejects.toThrow(
        RecordTooLarge,
      );
    } finally {
      await log.close();
      await connection.close();
      await nats.stop();
    }
  });
});

import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { loadKafkaClient, MAX_UNPACKED_BYTES } from './kafka-client.ts';

test('loading the Kafka client compiles none of its validators, and one that is used works', async () => {
  await loadKafkaClient();
  const client = await import('@platformatic/kafka');
  const validators = Object.entries(client).filter(([name]) => name.endsWith('OptionsValidator'));
  expect(validators.length).toBeGreaterThan(20);
  // Ajv notes the schema on what it has compiled.
  for (const [, validate] of validators) expect(validate).not.toHaveProperty('schema');
  expect(() => new client.Producer({ clientId: 'a', bootstrapBrokers: [], strict: true, retries: -1 })).toThrow(/retries must be >= 0/);
});

test('a batch that unpacks to more than the limit is an error, not memory', async () => {
  await loadKafkaClient();
  const { compressionsAlgorithms: codecs } = await import('@platformatic/kafka');
  const small = Buffer.from('{"n":1}'.repeat(1_000));
  const bomb = Buffer.alloc(MAX_UNPACKED_BYTES + 1);
  const xerial = (packed: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(packed.length);
    return Buffer.concat([Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]), size, packed]);
  };
  const snappy = (data: Buffer) => Buffer.from(codecs.snappy.compressSync(data));
  const cases = [
    [codecs.gzip, gzipSync],
    [codecs.zstd, zstdCompressSync],
    [codecs.snappy, snappy],
    [codecs.snappy, (data: Buffer) => xerial(snappy(data))],
  ] as const;
  for (const [codec, pack] of cases) {
    expect(Buffer.from(codec.decompressSync(pack(small))).equals(small)).toBe(true);
    expect(() => codec.decompressSync(pack(bomb))).toThrow(/more than|larger than/i);
  }
});

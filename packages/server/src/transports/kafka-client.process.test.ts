import { randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { loadKafkaClient, MAX_UNPACKED_BYTES } from './kafka-client.ts';
import { lz4Length } from './unpacked-size.ts';

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
    [codecs.lz4, (data: Buffer) => Buffer.from(codecs.lz4.compressSync(data))],
  ] as const;
  for (const [codec, pack] of cases) {
    expect(Buffer.from(codec.decompressSync(pack(small))).equals(small)).toBe(true);
    expect(() => codec.decompressSync(pack(bomb))).toThrow(/more than|larger than/i);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('the batches of one reply unpack to a limited size together', async () => {
  await loadKafkaClient();
  const { compressionsAlgorithms: codecs } = await import('@platformatic/kafka');
  const packed = gzipSync(Buffer.alloc(MAX_UNPACKED_BYTES));
  const reply = () => Array.from({ length: 3 }, () => codecs.gzip.decompressSync(packed));
  expect(reply).toThrow(/the batches of a reply unpack to more than/);
  await new Promise((resolve) => setImmediate(resolve));
  expect(codecs.gzip.decompressSync(packed)).toHaveLength(MAX_UNPACKED_BYTES);
});

test.each([
  ['text with repetitions', Buffer.from('{"order":"0001","total":12.5}'.repeat(10_000))],
  ['noise, which LZ4 stores as it is', randomBytes(300_000)],
  ['one byte', Buffer.from('x')],
  ['a long run', Buffer.alloc(5_000_000, 'a')],
])('the unpacked size of an LZ4 frame is known before it is unpacked: %s', async (_, data) => {
  await loadKafkaClient();
  const { compressionsAlgorithms: codecs } = await import('@platformatic/kafka');
  const packed = Buffer.from(codecs.lz4.compressSync(data));
  expect(lz4Length(packed)).toBe(data.length);
  expect(lz4Length(Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]), packed, packed]))).toBe(2 * data.length);
  expect(() => lz4Length(Buffer.from('no frame at all'))).toThrow(/LZ4/);
});

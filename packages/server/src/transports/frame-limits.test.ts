import { describe, expect, test } from 'vitest';
import { kafkaFrames, MAX_KAFKA_FRAME, MAX_NATS_MESSAGE, natsMessages } from './frame-limits.ts';

describe('frames, in chunks of any size', () => {
  const frame = (size: number) => {
    const bytes = Buffer.alloc(4 + size);
    bytes.writeUInt32BE(size);
    return bytes;
  };
  const chunks = (bytes: Buffer, size: number) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

  test.each([1, 3, 4, 7, 1_000])('of Kafka: %i bytes', (size) => {
    const { read } = kafkaFrames()();
    const good = Buffer.concat([frame(0), frame(1), frame(5), frame(300), frame(2)]);
    for (const chunk of chunks(good, size)) expect(read(chunk)).toBeUndefined();
    const header = Buffer.alloc(4);
    header.writeUInt32BE(MAX_KAFKA_FRAME + 1);
    expect(chunks(header, size).map(read).at(-1)).toMatch(/more than/);
  });

  test('incomplete frames of all brokers of a client count together, and those of a closed connection no more', () => {
    const inspect = kafkaFrames();
    const begin = () => {
      const inspector = inspect();
      const header = Buffer.alloc(4);
      header.writeUInt32BE(MAX_KAFKA_FRAME);
      return { inspector, faults: [header, Buffer.alloc(MAX_KAFKA_FRAME - 1)].map(inspector.read) };
    };
    const open = [begin(), begin(), begin()];
    expect(open.flatMap(({ faults }) => faults)).toEqual(Array(6).fill(undefined));
    const fourth = begin();
    expect(fourth.faults).toEqual([undefined, expect.stringMatching(/the brokers send more than/)]);
    for (const { inspector } of [...open, fourth]) inspector.closed();
    expect(begin().faults).toEqual([undefined, undefined]);
  });

  test.each([1, 2, 5, 1_000])('of NATS: %i bytes', (size) => {
    const { read } = natsMessages()();
    const good = 'INFO {"a":1}\r\nMSG a 1 5\r\nMSG 9\r\nPING\r\nHMSG a 1 b 3 6\r\nabc\r\n1\r\n+OK\r\nmsg a 1 0\r\n\r\n';
    for (const chunk of chunks(Buffer.from(good), size)) expect(read(chunk)).toBeUndefined();
    expect(
      chunks(Buffer.from(`MSG a 1 ${MAX_NATS_MESSAGE + 1}\r\n`), size)
        .map(read)
        .at(-1),
    ).toMatch(/more than/);
  });

  test('a line of NATS without an end', () => {
    const { read } = natsMessages()();
    expect(Array.from({ length: 40 }, () => read(Buffer.alloc(65_536, 'x'))).some((fault) => fault?.includes('a line of more than'))).toBe(
      true,
    );
  });
});

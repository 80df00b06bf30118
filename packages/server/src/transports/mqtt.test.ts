import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openMqtt } from './mqtt.ts';
import { driverOptions, record } from './testing/conformance.ts';

/** Speaks as much of MQTT 5 as a publisher needs, and ends the connection at more publishes in flight than it announced. */
class Broker {
  /** Properties of the CONNACK, as bytes. */
  readonly #properties: number[];
  readonly #receiveMaximum: number;
  readonly topics: string[] = [];
  #server: Server;
  readonly #sockets = new Set<Socket>();
  constructor(properties: number[], receiveMaximum = 65_535) {
    this.#properties = properties;
    this.#receiveMaximum = receiveMaximum;
    this.#server = createServer((socket) => this.#accept(socket));
  }
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `mqtt://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const unacknowledged: Buffer[] = [];
    let rest = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let packet = packetOf(rest); packet; packet = packetOf(rest)) {
        rest = rest.subarray(packet.end);
        if (packet.type === 1)
          socket.write(Buffer.from([0x20, 3 + this.#properties.length, 0, 0, this.#properties.length, ...this.#properties]));
        if (packet.type !== 3) continue;
        const length = packet.body.readUInt16BE(0);
        this.topics.push(packet.body.toString('utf8', 2, 2 + length));
        unacknowledged.push(packet.body.subarray(2 + length, 4 + length));
        if (unacknowledged.length > this.#receiveMaximum) return socket.end(Buffer.from([0xe0, 2, 0x93, 0]));
        // What was sent together has come before the first acknowledgement.
        if (unacknowledged.length === 1)
          setImmediate(() => {
            for (const id of unacknowledged.splice(0)) socket.write(Buffer.from([0x40, 2, ...id]));
          });
      }
    });
  }
}
function packetOf(bytes: Buffer): { type: number; body: Buffer; end: number } | undefined {
  let length = 0;
  for (let i = 1; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    length |= (byte & 127) << (7 * (i - 1));
    if (byte & 128) continue;
    const end = i + 1 + length;
    return bytes.length < end ? undefined : { type: (bytes[0] ?? 0) >> 4, body: bytes.subarray(i + 1, end), end };
  }
  return undefined;
}

let broker: Broker;
afterEach(() => broker.close());
async function opened(from: Broker, more: Record<string, string> = {}) {
  broker = from;
  const transport = openMqtt({ url: await broker.listen(), ...more }, driverOptions());
  onTestFinished(() => transport.close());
  return transport;
}
const limits = { timeout_ms: 20_000 };

test('no more messages are in flight than the broker takes, also for two batches', async () => {
  const transport = await opened(new Broker([0x21, 0, 3], 3));
  const batch = (from: number) => Array.from({ length: 20 }, (_, i) => record('events', from + i));
  expect(await Promise.all([transport.send(batch(0), limits), transport.send(batch(20), limits)])).toEqual([
    { kind: 'delivered' },
    { kind: 'delivered' },
  ]);
  expect(broker.topics).toHaveLength(40);
});

test('a topic with a wildcard is refused, and never reaches the broker', async () => {
  const transport = await opened(new Broker([]));
  for (const topic of ['events/+', 'events/#', '', 'a\u0000b'])
    expect(await transport.send([record(topic, 1)], limits)).toMatchObject({
      kind: 'partial',
      items: [{ kind: 'refused', reason: expect.stringContaining('is not a topic name') }],
    });
  expect(broker.topics).toEqual([]);
});

test('a packet above the limit of the broker is refused, its topic included', async () => {
  const transport = await opened(new Broker([0x27, 0, 0, 7, 208]));
  expect(await transport.send([record('t'.repeat(1_500), 1)], limits)).toMatchObject({
    items: [{ kind: 'refused', reason: 'mqtt: the message has more than 2000 bytes' }],
  });
  expect(await transport.send([record('t'.repeat(1_000), 1)], limits)).toEqual({ kind: 'delivered' });
  expect(broker.topics).toHaveLength(1);
});

test.each([
  [[0x24, 0], {}, 'the broker takes no messages with QoS 1'],
  [[0x25, 0], { retain: 'true' }, 'the broker keeps no retained messages'],
])('what the broker does not offer is named: %j', async (properties, more, reason) => {
  const transport = await opened(new Broker(properties), more as Record<string, string>);
  expect(await transport.send([record('events', 1)], limits)).toEqual({ kind: 'unavailable', reason: `mqtt: ${reason}` });
});

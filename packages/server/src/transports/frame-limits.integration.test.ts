import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, type onTestFinished, test } from 'vitest';
import { openKafkaConsumer } from './consumers/kafka.ts';
import { openNatsConsumer } from './consumers/nats.ts';
import { loadKafkaClient } from './kafka-client.ts';
import { driverOptions } from './testing/conformance.ts';

/** Answers the first bytes of each connection, and then sends on until the client hangs up. Returns its address, and how much it sent. */
async function hostile(
  onEnd: typeof onTestFinished,
  first: string | undefined,
  answer: Buffer,
): Promise<{ port: number; sent: () => number }> {
  let sent = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    const flood = () => {
      if (socket.destroyed || sent > 600_000_000) return;
      sent += 65_536;
      socket.write(Buffer.alloc(65_536), () => setImmediate(flood));
    };
    if (first !== undefined) socket.write(first);
    socket.once('data', () => {
      socket.write(answer);
      flood();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sent: () => sent };
}

// Both wait for the timeouts of their clients.
describe.concurrent('a hostile broker that announces a frame without end is left after the announcement', () => {
  test('Kafka', async (context) => {
    await loadKafkaClient();
    const { port, sent } = await hostile(context.onTestFinished, undefined, Buffer.from([0x7f, 0xff, 0xff, 0xff]));
    const connection = { brokers: `127.0.0.1:${port}`, topic: 't', tls: 'disable' };
    await expect(openKafkaConsumer({ id: 'whs_1', connection, secret: '' }, driverOptions())).rejects.toThrow(/2147483647 bytes at once/);
    expect(sent()).toBeLessThan(100_000_000);
  });

  test('NATS, in a message', async (context) => {
    const info = `INFO ${JSON.stringify({ server_id: 'x', version: '2.11.0', proto: 1, max_payload: 1_048_576, headers: true })}\r\n`;
    const { port, sent } = await hostile(context.onTestFinished, info, Buffer.from('PONG\r\nMSG _INBOX.a.b 1 2147483647\r\n'));
    const connection = { url: `nats://127.0.0.1:${port}`, stream: 's', tls: 'disable' };
    await expect(openNatsConsumer({ id: 'whs_1', connection, secret: '' }, driverOptions())).rejects.toThrow(/message of 2147483647 bytes/);
    expect(sent()).toBeLessThan(100_000_000);
  });
});

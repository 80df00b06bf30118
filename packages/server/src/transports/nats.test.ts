import { type AddressInfo, createServer } from 'node:net';
import { JetStreamApiError } from '@nats-io/jetstream';
import { expect, onTestFinished, test } from 'vitest';
import { natsFailure, openNats } from './nats.ts';
import { driverOptions, record } from './testing/conformance.ts';

test.each([
  [10_054, 'message size exceeds maximum allowed', 'refused'],
  [10_077, 'maximum messages exceeded', 'unavailable'],
  [10_023, 'insufficient resources', 'unavailable'],
])('the stream’s error %d (%s) is %s', (err_code, description, kind) => {
  expect(natsFailure(new JetStreamApiError({ code: 400, err_code, description }))).toEqual({ kind, reason: `nats: ${description}` });
});

/** What the client says first to a server that offers TLS. */
async function firstBytes(tls: string): Promise<string> {
  const first = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      first.resolve(bytes.toString('latin1'));
      // A refusal ends the attempt at once; after a mere hang-up the client waits for its ten seconds.
      socket.end("-ERR 'Authorization Violation'\r\n");
    });
    const info = { server_id: 'fake', version: '2.11.0', proto: 1, headers: true, max_payload: 1_048_576, tls_available: true };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const transport = openNats({ url: `nats://127.0.0.1:${port}`, tls }, driverOptions());
  onTestFinished(async () => {
    server.close();
    await transport.close();
  });
  expect(await transport.send([record('events', 1)], { timeout_ms: 5_000 })).toMatchObject({ kind: 'unavailable' });
  return first.promise;
}

test('disable stays plain text where the server offers TLS, and verify changes to it', async () => {
  expect(await firstBytes('disable')).toMatch(/^CONNECT /);
  expect(await firstBytes('verify')).toMatch(/^\x16\x03/);
});

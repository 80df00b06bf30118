import { expect, test } from 'vitest';
import { openRabbitmq } from './rabbitmq.ts';
import { driverOptions, record } from './testing/conformance.ts';

test('a routing key that the protocol cannot carry is refused, not cut', async () => {
  const transport = openRabbitmq({ url: 'amqp://127.0.0.1:1' }, driverOptions());
  const long = record('ü'.repeat(128), 1);
  const reason = 'rabbitmq: the routing key has more than 255 bytes';
  expect(await transport.send([long], { timeout_ms: 20_000 })).toEqual({ kind: 'refused', reason });
  expect(await transport.send([long, record('kept', 2)], { timeout_ms: 20_000 })).toEqual({ kind: 'unavailable', reason, isolate: true });
  await transport.close();
});

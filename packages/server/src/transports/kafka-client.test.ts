import { expect, test } from 'vitest';
import { loadKafkaClient } from './kafka-client.ts';

test('loading the Kafka client compiles none of its validators, and one that is used works', async () => {
  await loadKafkaClient();
  const client = await import('@platformatic/kafka');
  const validators = Object.entries(client).filter(([name]) => name.endsWith('OptionsValidator'));
  expect(validators.length).toBeGreaterThan(20);
  // Ajv notes the schema on what it has compiled.
  for (const [, validate] of validators) expect(validate).not.toHaveProperty('schema');
  expect(() => new client.Producer({ clientId: 'a', bootstrapBrokers: [], strict: true, retries: -1 })).toThrow(/retries must be >= 0/);
});

import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { LogUnavailable } from '../port.ts';
import { JetStreamApi, JetStreamError } from './api.ts';

const answeringWith = (answer: object) =>
  new JetStreamApi({ request: async () => ({ string: () => JSON.stringify(answer) }) } as unknown as NatsConnection, 100);
const answering = (error: object) => answeringWith({ error });

test.each([
  ['without a quorum', { code: 503, err_code: 10_008, description: 'JetStream system temporarily unavailable' }],
  ['without a server of the stream', { code: 500, err_code: 10_118, description: 'stream is offline' }],
])('%s the log is unavailable, although JetStream answers', async (_, error) => {
  await expect(answering(error).call('STREAM.INFO.x')).rejects.toThrow(LogUnavailable);
});

test('a refused request is no outage', async () => {
  const refused = answering({ code: 400, err_code: 10_025, description: 'bad request' }).call('STREAM.INFO.x');
  await expect(refused).rejects.toThrow(JetStreamError);
});

test('a server that does not answer makes the log unavailable', async () => {
  const silent = { request: () => Promise.reject(new Error('timeout')) } as unknown as NatsConnection;
  await expect(new JetStreamApi(silent, 100).call('STREAM.INFO.x')).rejects.toThrow(LogUnavailable);
});

test('the list of a server without a leader is not believed, although it looks empty', async () => {
  const [config, state] = [{ name: 'x' }, { messages: 0, subjects: {} }];
  await expect(answeringWith({ config, state, cluster: { name: 'c' } }).streamInfo('x')).rejects.toThrow(LogUnavailable);
  await expect(answeringWith({ config, state, cluster: { name: 'c', leader: '' } }).streamInfo('x')).rejects.toThrow(LogUnavailable);
  expect((await answeringWith({ config, state, cluster: { name: 'c', leader: 'n1' } }).streamInfo('x')).state).toEqual(state);
  // A server that is alone has no leader to name.
  expect((await answeringWith({ config, state }).streamInfo('x')).state).toEqual(state);
});

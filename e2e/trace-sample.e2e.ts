/** TRACE_SAMPLE: traces are left out, statistics are complete, drops and errors are always traced. */
import { expect, test } from 'vitest';
import { pipelineTo, send, until } from './harness/client.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage({ TRACE_SAMPLE: '0', TRACE_SAMPLE_ABOVE: '0' });

test('a delivered event is counted and has no trace, which the answer says; a failed one is traced', async () => {
  const { pipeline, key } = await pipelineTo(client, receiver.url, { config: { max_retries: 1 } });
  receiver.answer(({ body }) => (body.includes('fails') ? { status: 400 } : {}));
  const track = (messageId: string) => send(service, key, '/v1/t', { type: 'track', event: 'Sampled', messageId });
  await until('the pipeline', async () => (await track('plain-1')).status === 200);
  for (const id of ['plain-2', 'fails-1']) expect((await track(id)).status).toBe(200);
  await until('the statistics', async () => {
    const { received, delivered, dead_lettered } = (await client.get(`/stats?pipeline_id=${pipeline.id}`)).totals;
    return received === 3 && delivered === 2 && dead_lettered === 1;
  });

  const missing = await client.call('GET', '/events/plain-2');
  expect([missing.status, missing.body.error.code]).toEqual([404, 'NOT_FOUND']);
  expect(missing.body.error.message).toMatch(/its trace was left out: above 0 events a second 0 % of the traces are kept \(TRACE_SAMPLE\)/);

  const failed = await until('the trace', async () => {
    const { status, body } = await client.call('GET', '/events/fails-1');
    return status === 200 && body;
  });
  expect(failed).toMatchObject({ event_id: 'fails-1', status: 'processed', reason: 'untraced', event_name: 'Sampled' });
  expect(failed.deliveries).toMatchObject([{ status: 'dead_lettered', reason: 'http_400' }]);
  expect(failed.steps.some(({ explanation }: { explanation?: string }) => explanation?.includes('TRACE_SAMPLE'))).toBe(true);
});

import { expect, test } from 'vitest';
import { pipelineTo, send, until } from './harness/client.ts';
import { watch } from './harness/live-view.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

test('a watcher sees every stage of an event, and rejected events', async () => {
  const { key, pipeline } = await pipelineTo(client, receiver.url);
  const { frames, opened, end } = watch(service, `?token=${client.token}&pipeline_id=${pipeline.id}`);
  await opened;
  const stagesOf = (id: unknown) => new Set(frames.filter((frame) => frame.event_id === id).map((frame) => frame.stage));
  let sent = 0;
  // Repeated: the watch takes time to reach all processes, and a busy process may skip frames.
  await until('the stages of one event', async () => {
    await send(service, key, '/v1/t', { type: 'track', event: 'Live', messageId: `live-${sent++}` });
    return frames.some(({ event_id }) => ['received', 'processed', 'delivered'].every((name) => stagesOf(event_id).has(name)));
  });
  await until('the refusal', async () => {
    await send(service, key, '/v1/t', { type: 'track' });
    return frames.some((frame) => frame.stage === 'rejected' && frame.reason === 'missing_field');
  });
  expect(frames.map((frame) => frame.seq)).toEqual(frames.map((_, i) => i + 1));
  end();
});

test('a watcher that asks for counts gets those of the last minutes, by integration', async () => {
  const { key, pipeline, integration } = await pipelineTo(client, receiver.url);
  const { frames, opened, end, say } = watch(service, `?token=${client.token}`);
  await opened;
  say({ type: 'counts', scopes: [{ pipeline_id: pipeline.id, group_by: 'integration_id' }] });
  for (const messageId of ['counted-1', 'counted-2']) await send(service, key, '/v1/t', { type: 'track', event: 'Counted', messageId });
  const { counts } = await until('both events among the counts', async () =>
    frames.find(({ stage, counts: { totals } = {} }) => stage === 'counts' && totals.received === 2 && totals.delivered === 2),
  );
  expect(counts.totals).toMatchObject({ processed: 2 });
  expect(counts.groups).toEqual([expect.objectContaining({ id: integration.id, totals: expect.objectContaining({ delivered: 2 }) })]);
  end();
});

test('an invalid token closes the socket with 4401, and no token is logged', async () => {
  expect(await watch(service, '?token=nonsense').closed).toBe(4401);
  expect(service.output()).not.toContain(client.token);
});

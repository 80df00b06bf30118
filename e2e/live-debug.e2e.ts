import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { pipelineTo, send, until } from './harness/client.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

function watch(query: string) {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/admin/debug/live${query}`);
  const frames: Record<string, unknown>[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Record<string, unknown>));
  return {
    frames,
    socket,
    opened: new Promise((resolve) => socket.on('open', resolve)),
    closed: new Promise<number>((resolve) => socket.on('close', resolve)),
  };
}

test('a watcher sees every stage of an event, and rejected events', async () => {
  const { key, pipeline } = await pipelineTo(client, receiver.url);
  const { frames, socket, opened } = watch(`?token=${client.token}&pipeline_id=${pipeline.id}`);
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
  socket.terminate();
});

test('an invalid token closes the socket with 4401, and no token is logged', async () => {
  expect(await watch('?token=nonsense').closed).toBe(4401);
  expect(service.output()).not.toContain(client.token);
});

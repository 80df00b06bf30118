import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LogUnavailable } from '../../stores/event-log/port.ts';
import { CAPACITY_LIMITS } from './capacity.ts';
import { aPipeline, aSnapshot, startIngest, withAppend } from './testing/harness.ts';

const post = (url: string, body: unknown = { type: 'track', event: 'X' }, path = '/v1/t') =>
  fetch(url + path, { method: 'POST', headers: { authorization: 'Bearer pk_web' }, body: JSON.stringify(body) });

test('a 200 is sent only after the log is on disk', async () => {
  let durable = 0;
  const harness = await startIngest(aSnapshot([aPipeline()]), {
    log: withAppend(async (append, isIngest) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const result = await append();
      if (isIngest) durable++;
      return result;
    }),
  });
  const answers = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const response = await post(harness.url);
      return { status: response.status, durable };
    }),
  );
  expect(answers.every(({ status, durable: then }) => status === 200 && then > 0)).toBe(true);
  expect(durable).toBe(40);
  await harness.close();
});

test.each([
  ['unavailable', () => new LogUnavailable('disk full')],
  ['broken', () => new Error('something else')],
])('a log that is %s: 503 with Retry-After, and 200 when it is back', async (_name, fault) => {
  let broken = true;
  const harness = await startIngest(aSnapshot([aPipeline()]), {
    log: withAppend((append, isIngest) => (broken && isIngest ? Promise.reject(fault()) : append())),
  });
  for (const [path, body] of [
    ['/v1/t', { type: 'track', event: 'X' }],
    ['/v1/batch', { batch: [{ type: 'track', event: 'X' }] }],
  ] as const) {
    const response = await post(harness.url, body, path);
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toMatchObject([
      503,
      '1',
      { error: 'overloaded' },
    ]);
  }
  broken = false;
  expect((await post(harness.url)).status).toBe(200);
  expect(await harness.stored()).toHaveLength(1);
  await harness.close();
});

test('over the bound of waiting requests the answer is 503, and none that got 200 is lost', async () => {
  const held: (() => void)[] = [];
  const harness = await startIngest(aSnapshot([aPipeline()]), {
    limits: { ...CAPACITY_LIMITS, appendingRequests: 5 },
    log: withAppend(async (append, isIngest) => {
      if (isIngest) await new Promise<void>((resolve) => held.push(resolve));
      return append();
    }),
  });
  let refused = 0;
  const answers = Array.from({ length: 20 }, async () => {
    const answer = await post(harness.url);
    if (answer.status === 503) refused++;
    return answer;
  });
  await expect.poll(() => [held.length, refused]).toEqual([5, 15]);
  for (const release of held) release();
  const statuses = (await Promise.all(answers)).map((answer) => answer.status).sort();
  expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(503)]);
  expect(await harness.stored()).toHaveLength(5);
  await harness.close();
});

test('large bodies give way before small ones', async () => {
  const harness = await startIngest(aSnapshot([aPipeline()]), { limits: { ...CAPACITY_LIMITS, receivingBytes: 100_000 } });
  const large = await post(harness.url, { type: 'track', event: 'X', properties: { x: 'x'.repeat(300_000) } });
  expect(large.status).toBe(503);
  expect((await post(harness.url)).status).toBe(200);
  await harness.close();
});

test('a packed body takes as much room as it unpacks to, until its request is answered', async () => {
  const harness = await startIngest(aSnapshot([aPipeline()]), { limits: { ...CAPACITY_LIMITS, receivingBytes: 300_000 } });
  const packed = (size: number) =>
    fetch(`${harness.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: 'Bearer pk_web' },
      body: gzipSync(JSON.stringify({ type: 'track', event: 'X', properties: { x: 'x'.repeat(size) } })),
    });
  for (const [size, status] of [
    [200_000, 200],
    [400_000, 503],
    [200_000, 200],
  ] as const)
    expect((await packed(size)).status).toBe(status);
  await harness.close();
});

test('a stop waits for requests in flight and closes connections cleanly', async () => {
  let release: (() => void) | undefined;
  const harness = await startIngest(aSnapshot([aPipeline()]), {
    log: withAppend(async (append, isIngest) => {
      if (isIngest) await new Promise<void>((resolve) => (release = resolve));
      return append();
    }),
  });
  const answer = post(harness.url);
  while (release === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
  let stopped = false;
  const stopping = harness.ingest.stop().then(() => (stopped = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stopped).toBe(false);
  release();
  const response = await answer;
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  await stopping;
  await harness.close();
});

test('counts that could not be written are written later, once', async () => {
  let broken = true;
  let refused = 0;
  const harness = await startIngest(aSnapshot([aPipeline()]), {
    log: withAppend(async (append, isIngest) => {
      if (!broken || isIngest) return append();
      refused++;
      throw new LogUnavailable('away');
    }),
  });
  await post(harness.url, { type: 'track' });
  await expect.poll(() => refused).toBeGreaterThan(0);
  expect(await harness.outcomes()).toEqual([]);
  broken = false;
  await post(harness.url, { type: 'track' });
  await harness.ingest.stop();
  const counts = (await harness.outcomes()).filter((outcome) => outcome.kind === 'ingest_counts');
  expect(counts.reduce((sum, each) => sum + (each.rejected.missing_field ?? 0), 0)).toBe(2);
  await harness.close();
});

/**
 * One story for every published SDK: only host and key are changed, seven calls, an outage and a 429 in the middle. Every event arrives
 * at the integrations exactly once, with the right time and ids.
 */
import { expect } from 'vitest';
import { type Client, pipelineTo, send, until } from '../harness/client.ts';
import type { Receiver } from '../harness/receiver.ts';
import type { Service } from '../harness/service.ts';
import type { Call } from './calls.ts';
import { type Fault, type Gate, openGate } from './gate.ts';

export interface Sdk {
  name: string;
  /** `second` is the id of the integration that a call may switch off. */
  calls(second: string): Call[];
  /** Compresses its requests. */
  gzip: boolean;
  /** Sends a failed request again by itself. Otherwise `call` repeats the call, as an application must. */
  retries: boolean;
  open(address: { url: string; key: string }): Promise<Calling>;
}
export interface Calling {
  call(call: Call): Promise<void>;
  close(): Promise<void>;
}
export interface Stage {
  service: Service;
  client: Client;
  receiver: Receiver;
}

/** The calls of a story in phases: each ends when its events have arrived. */
const PHASES: { calls: [from: number, to: number]; faults: Fault[] }[] = [
  { calls: [0, 2], faults: [] },
  { calls: [2, 4], faults: ['reset', 'lost answer'] },
  { calls: [4, 6], faults: ['limited'] },
  { calls: [6, 7], faults: [] },
];

export async function playStory({ service, client, receiver }: Stage, sdk: Sdk): Promise<void> {
  const path = `/${sdk.name.replaceAll(/\W+/g, '-')}`;
  const { pipeline, key } = await pipelineTo(client, `${receiver.url}${path}/first`, { pipeline: { domain_allowlist: ['shop.test'] } });
  const second = await client.post('/integrations', {
    source_id: pipeline.id,
    vendor: 'webhook',
    name: 'Second',
    config: { url: `${receiver.url}${path}/second`, rate_limit_rps: 100_000, rate_limit_burst: 100_000 },
  });
  const limited = await client.post('/pipelines', { name: 'Limited', rate_limit_rps: 1, domain_allowlist: ['shop.test'] });
  await until('both pipelines to be known', async () =>
    (await Promise.all([key, limited.pipeline_key].map((each) => fetch(`${service.url}/sourceConfig?writeKey=${each}`)))).every(
      ({ status }) => status === 200,
    ),
  );
  const arrived = (at: 'first' | 'second') =>
    receiver.requests.filter((request) => request.path === `${path}/${at}`).map(({ body }) => JSON.parse(body) as Arrived);

  const gate = await openGate(service.url, limited.pipeline_key);
  try {
    const sending = await sdk.open({ url: gate.url, key });
    const made: Made[] = [];
    for (const { calls, faults } of PHASES) {
      gate.order(...faults.filter((fault) => sdk.retries || fault !== 'lost answer'));
      for (const call of sdk.calls(second.id).slice(...calls)) {
        const from = Date.now();
        await sending.call(call);
        made.push({ ...call, from, to: Date.now() });
      }
      await until(`event ${made.length} of ${sdk.name}`, () => arrived('first').length >= made.length);
    }
    await sending.close();
    // The pipeline's last event: what the SDK sent twice would be delivered before it.
    await send(service, key, '/v1/t', { type: 'track', event: 'End of story', userId: 'u1' });
    await until('the end of the story', () => [...arrived('first'), ...arrived('second')].filter(isEnd).length === 2);

    expectArrived(arrived('first'), made);
    expectArrived(
      arrived('second'),
      made.filter(({ onlyFirst }) => !onlyFirst),
    );
    expectFaults(gate, sdk);
  } finally {
    await gate.close();
  }
}

interface Arrived extends Record<string, unknown> {
  event_id: string;
  timestamp: string;
}
interface Made extends Call {
  from: number;
  to: number;
}
const isEnd = ({ event }: Arrived) => event === 'End of story';
/** What tells the seven calls apart. */
const kind = (event: Record<string, unknown>) => `${String(event.original_type ?? event.type)} ${String(event.event ?? '')}`;

function expectArrived(events: Arrived[], made: Made[]): void {
  const rest = events.filter((event) => !isEnd(event));
  expect(rest.map(kind).sort()).toEqual(made.map(({ event }) => kind(event)).sort());
  expect(new Set(rest.map(({ event_id }) => event_id)).size).toBe(made.length);
  for (const { event: expected, time, from, to } of made) {
    const event = rest.find((each) => kind(each) === kind(expected));
    expect(event).toMatchObject(expected);
    const at = event?.timestamp ?? '';
    if (time !== undefined) expect(at, kind(expected)).toBe(time);
    // The time of the call, not of the receipt: that comes seconds later where a request is sent again.
    else expect([from <= Date.parse(at), Date.parse(at) <= to], `${kind(expected)} at ${at}`).toEqual([true, true]);
  }
}

/** The faults really happened, and the SDK compressed what it should. */
function expectFaults({ posts }: Gate, sdk: Sdk): void {
  const outcomes = posts.map(({ outcome }) => outcome);
  expect(outcomes).toContain('reset');
  if (sdk.retries) expect(outcomes).toContain('lost answer');
  expect(outcomes).toContain(429);
  expect(new Set(posts.map(({ encoding }) => encoding))).toEqual(new Set([sdk.gzip ? 'gzip' : undefined]));
}

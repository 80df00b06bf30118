/** Streams of clouds at a local server that checks signatures by its own code and answers as the service does. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadVendor } from '@firsthand/catalog/index.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AWS_KEY, type AwsAnswer, type AwsCall, startAws } from '../../test/servers/index.ts';
import { createSender } from './sender.ts';
import { driverOptions } from './testing/conformance.ts';

const event = (id: number): CanonicalEvent => ({
  event_id: `e${id}`,
  type: 'track',
  event: 'Order Completed',
  anonymous_id: `visitor ${id % 2} ü`,
  timestamp: '2026-01-01T00:00:00.000Z',
  context: {},
  properties: { total: id },
});

async function compiled(key: string, config: JsonObject): Promise<CompiledVendor> {
  const vendor = await loadVendor(key);
  if (!vendor) throw new Error(`no vendor ${key}`);
  const result = compileVendor(vendor, config, { mode: 'development', allow_private: true });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}

async function send(vendor: CompiledVendor, count: number) {
  const { http, allowPrivateDestinations } = driverOptions();
  const sender = createSender({ ...http, allowPrivateDestinations });
  onTestFinished(() => sender.close());
  const items = Array.from({ length: count }, (_, i) => vendor.build(event(i), { now: Date.now() })).flatMap((built) =>
    built.kind === 'items' ? built.items : [],
  );
  expect(items).toHaveLength(count);
  return (await sender.send({ vendor, items, attempt: 1 }, 'request-1')).verdict;
}

const ACCOUNT = { region: 'eu-central-1', ...AWS_KEY };
const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/123456789012/events.fifo';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:events';
/** Each vendor's own settings, how many events go into one request, and the answers for all stored and for the second one refused. */
const SERVICES: [string, JsonObject, number, unknown, unknown][] = [
  [
    'amazon_kinesis',
    { stream: 'events' },
    3,
    { FailedRecordCount: 0, Records: [{}, {}, {}] },
    { FailedRecordCount: 1, Records: [{}, { ErrorCode: 'InternalFailure' }, {}] },
  ],
  [
    'amazon_firehose',
    { stream: 'events' },
    3,
    { FailedPutCount: 0, RequestResponses: [{}, {}, {}] },
    { FailedPutCount: 1, RequestResponses: [{}, { ErrorCode: 'ServiceUnavailableException' }, {}] },
  ],
  ['amazon_sqs', { queue_url: QUEUE }, 3, { Successful: [] }, { Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }] }],
  [
    'amazon_eventbridge',
    {},
    3,
    { FailedEntryCount: 0, Entries: [{}, {}, {}] },
    { FailedEntryCount: 1, Entries: [{}, { ErrorCode: 'ThrottlingException' }, {}] },
  ],
  ['amazon_sns', { topic_arn: TOPIC }, 1, '<PublishResponse/>', undefined],
];

describe.each(SERVICES)('%s', (key, own, count, stored, partly) => {
  const started = async (answer: (call: AwsCall) => AwsAnswer) => {
    const server = await startAws(answer);
    onTestFinished(() => server.stop());
    return server;
  };

  test('the signature is right, and the events are delivered', async () => {
    const server = await started(() => ({ status: 200, body: stored }));
    expect(await send(await compiled(key, { ...own, ...ACCOUNT, endpoint: server.url }), count)).toEqual({ kind: 'delivered' });
    expect(server.calls).toHaveLength(1);
    expect(server.calls[0]?.body.length).toBeGreaterThan(100);
  });

  test('a wrong secret is unavailable, so that the events wait for the right one', async () => {
    const server = await started(() => ({ status: 200, body: stored }));
    const vendor = await compiled(key, { ...own, ...ACCOUNT, secret_access_key: 'wrong', endpoint: server.url });
    expect(await send(vendor, count)).toMatchObject({ kind: 'unavailable', reason: expect.stringContaining('InvalidSignature') });
    expect(server.calls).toEqual([]);
  });

  test('throttling with the status 400 is unavailable', async () => {
    const xml = '<ErrorResponse><Error><Code>Throttled</Code></Error></ErrorResponse>';
    const json = { __type: 'com.amazonaws#ThrottlingException', message: 'Rate exceeded' };
    const server = await started(() => ({ status: 400, body: key === 'amazon_sns' ? xml : json }));
    expect(await send(await compiled(key, { ...own, ...ACCOUNT, endpoint: server.url }), count)).toMatchObject({ kind: 'unavailable' });
  });

  test.skipIf(partly === undefined)('only the failed item of a partial answer goes again', async () => {
    const server = await started(() => ({ status: 200, body: partly }));
    const verdict = await send(await compiled(key, { ...own, ...ACCOUNT, endpoint: server.url }), count);
    expect(verdict).toMatchObject({ kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'unavailable' }, { kind: 'delivered' }] });
  });
});

test('azure_event_hubs: the signature of the hub is right, and a batch is one list', async () => {
  const key = 'a-key-of-azure';
  const bodies: unknown[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const given = new URLSearchParams((req.headers.authorization ?? '').replace('SharedAccessSignature ', ''));
      const signed = `${encodeURIComponent(given.get('sr') ?? '')}\n${given.get('se')}`;
      const right =
        createHmac('sha256', key).update(signed).digest('base64') === given.get('sig') && Number(given.get('se')) * 1_000 > Date.now();
      if (right) bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
      res.writeHead(right && given.get('skn') === 'send' ? 201 : 401).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { namespace: 'acme-events', event_hub: 'hub', key_name: 'send', endpoint };
  expect(await send(await compiled('azure_event_hubs', { ...config, key }), 3)).toEqual({ kind: 'delivered' });
  expect(bodies).toMatchObject([[{ UserProperties: { event_id: 'e0' } }, { UserProperties: { event_id: 'e1' } }, {}]]);
  expect(await send(await compiled('azure_event_hubs', { ...config, key: 'wrong' }), 3)).toMatchObject({ kind: 'unavailable' });
});

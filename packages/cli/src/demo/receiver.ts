/**
 * A local stand-in for the demo's vendors. It responds like each vendor and simulates failures: Meta rejects some purchases, TikTok has
 * outages, Amplitude throttles, the warehouse stalls.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** Delay before the response. */
  stall_ms?: number;
}
type Vendor = (body: string, now: number, random: () => number) => Reply;

const ok = (body: unknown, status = 200): Reply => ({ status, body });
const OUTAGE_EVERY_MS = 180_000;
const OUTAGE_MS = 20_000;

const VENDORS: Record<string, Vendor> = {
  ga4: () => ok('', 204),
  meta: (body, now) => {
    const { data = [] } = JSON.parse(body) as { data?: { event_name?: string; event_id?: string; event_time?: number }[] };
    // One purchase in eight is rejected while it is recent, so that a replay a few minutes later succeeds.
    const rejected = data.find(
      ({ event_name, event_id = '', event_time = 0 }) =>
        event_name === 'Purchase' && event_id.charCodeAt(0) % 8 === 1 && now / 1_000 - event_time < 300,
    );
    if (rejected === undefined) return ok({ events_received: data.length, messages: [], fbtrace_id: 'AbCdEf' });
    return {
      status: 400,
      body: {
        error: {
          message: 'Invalid parameter',
          type: 'OAuthException',
          code: 100,
          error_subcode: 2804050,
          error_user_msg: 'The currency EUR is not enabled for this ad account.',
        },
      },
    };
  },
  tiktok: (_body, now) =>
    now % OUTAGE_EVERY_MS < OUTAGE_MS
      ? { status: 503, body: 'upstream connect error' }
      : ok({ code: 0, message: 'OK', request_id: '20261116' }),
  amplitude: (_body, _now, random) =>
    random() < 0.03
      ? { status: 429, body: { code: 429, error: 'Too many requests for some devices and users' }, headers: { 'retry-after': '2' } }
      : ok({ code: 200, events_ingested: 1 }),
  braze: () => ok({ message: 'success', events_processed: 1 }, 201),
  warehouse: (_body, _now, random) => ({ status: 200, body: { ok: true }, stall_ms: random() < 0.02 ? 4_000 : 20 }),
};

export async function startReceiver(
  random: () => number = Math.random,
): Promise<{ url: string; server: Server; received: Map<string, number> }> {
  const received = new Map<string, number>();
  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      res.writeHead(500).end(error instanceof Error ? error.message : String(error));
    });
  });
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const name = (req.url ?? '').split('/')[1] ?? '';
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const vendor = Object.hasOwn(VENDORS, name) ? VENDORS[name] : undefined;
    if (vendor === undefined) return void res.writeHead(404).end();
    received.set(name, (received.get(name) ?? 0) + 1);
    const reply = vendor(Buffer.concat(chunks).toString(), Date.now(), random);
    if (reply.stall_ms !== undefined) await sleep(reply.stall_ms);
    res
      .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      .end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, received };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { send, signIn, until } from '../harness/client.ts';
import type { Service } from '../harness/service.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import type { Scope } from './kit/scope.ts';

/**
 * Checks the order of processing from outside. Each visitor is identified as u0, tracked, identified as u1, tracked, and so on. A track
 * event that was processed in order has the preceding identity, however late or often it is delivered.
 */
interface Seen {
  event_id: string;
  user_id?: string;
}

async function order(scope: Scope, figures: Figures, servers: boolean): Promise<void> {
  const visitors = scope.by(10, 50);
  const steps = scope.by(20, 50);
  const service = await scope.service(servers ? { ROLES: 'admin,ingest,deliver' } : {}, { servers });
  const processors: Service[] = [];
  if (servers) for (let n = 0; n < 2; n++) processors.push(scope.keep(await service.sibling({ ROLES: 'process' })));
  const vendor = await scope.receiver();
  // One attempt in seven fails and is retried after its successors.
  vendor.answer((_request, count) => ({ status: count % 7 === 0 ? 503 : 200 }));
  const client = await signIn(service);
  const { key, pipeline } = await scope.pipeline(service, vendor.url, {}, client);
  await client.post(`/pipelines/${pipeline.id}/transformations`, {
    name: 'Chokes',
    kind: 'code',
    code: 'function transform(event) { throw new Error("poison"); }',
    event_filter: { event_names: ['Poison'] },
    enabled: true,
  });
  await sleep(servers ? 3_000 : 100);
  const accepted = new Map<string, string>();
  let poison = 0;
  async function must(body: Record<string, unknown>, path: string): Promise<void> {
    // Sent again until it is accepted, which the messageId makes idempotent; only then the next one.
    await until(
      `${body.messageId} to be accepted`,
      async () => (await send(service, key, path, body).catch(() => undefined))?.status === 200,
      60_000,
    );
  }
  let stepped = 0;
  async function visitor(v: number): Promise<void> {
    const anonymousId = `visitor-${v}`;
    for (let n = 0; n < steps; n++) {
      await must({ type: 'identify', userId: `u${v}-${n}`, anonymousId, messageId: `i-${v}-${n}` }, '/v1/i');
      if (n % 10 === 3) {
        await must({ type: 'track', event: 'Poison', anonymousId, messageId: `p-${v}-${n}` }, '/v1/t');
        poison++;
      }
      const id = `t-${v}-${n}`;
      await must({ type: 'track', event: 'Step', anonymousId, messageId: id }, '/v1/t');
      accepted.set(id, `u${v}-${n}`);
      stepped++;
    }
  }
  const all = Promise.all(Array.from({ length: visitors }, (_, v) => visitor(v)));
  const middle = (visitors * steps) / 2;
  await until('half of it', () => stepped >= middle, 120_000);
  if (servers) await processors[0]!.kill();
  else {
    await service.kill();
    await service.start();
  }
  await all;
  const seen = () => new Map((vendor.events() as unknown as Seen[]).map((event) => [event.event_id, event]));
  await until('every step', () => [...accepted.keys()].every((id) => seen().has(id)), 60_000).catch(() => {});
  const last = seen();
  const missing = [...accepted.keys()].filter((id) => !last.has(id)).length;
  const wrong = [...accepted].filter(([id, user]) => last.has(id) && last.get(id)!.user_id !== user).length;
  figures.tell('visitors × steps', `${visitors} × ${steps}, ${poison} poison events between`);
  figures.equal('accepted and never delivered', missing, 0);
  figures.equal('processed out of turn', wrong, 0);
}

export const f27: Fault = {
  id: 'F27',
  title: 'order per visitor, with failures and a kill -9',
  limit_s: { quick: 150, normal: 300, full: 300 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    await order(scope, figures, false);
    await scope.close();
    await order(scope, figures.on('NATS, two processors'), true);
    return figures.verdict;
  },
};

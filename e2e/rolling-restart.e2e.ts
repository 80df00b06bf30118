/** A rolling restart of two processes behind a load balancer: no client sees more of it than a connection that closes after its answer. */
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, pipelineTo, signIn, until } from './harness/client.ts';
import { watch } from './harness/live-view.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

/** Close code of a WebSocket whose server stops. */
const GOING_AWAY = 1001;

interface Balancer {
  port: number;
  /** Connections by target, and what went wrong with one. */
  opened: Map<Service, number>;
  faults: string[];
  isReady(target: Service): boolean;
  close(): Promise<void>;
}
/** As nginx and Kubernetes do: asks `/readyz` of each target and gives new connections to the ready ones, in turn. */
async function startBalancer(targets: Service[]): Promise<Balancer> {
  const ready = new Set<Service>();
  const opened = new Map(targets.map((target) => [target, 0]));
  const faults: string[] = [];
  const closing = new AbortController();
  async function watch(target: Service): Promise<void> {
    while (!closing.signal.aborted) {
      const answer = await fetch(`${target.url}/readyz`, { signal: closing.signal }).catch(() => undefined);
      if (answer?.ok) ready.add(target);
      else ready.delete(target);
      await answer?.body?.cancel();
      await sleep(100);
    }
  }
  const watching = targets.map(watch);
  let turn = 0;
  const server = createServer((client) => {
    const choice = [...ready];
    const target = choice[turn++ % choice.length];
    if (target === undefined) {
      faults.push('no process is ready');
      client.destroy();
      return;
    }
    opened.set(target, opened.get(target)! + 1);
    const upstream = connect(Number(new URL(target.url).port), '127.0.0.1');
    upstream.on('error', (error) => {
      faults.push(`process ${targets.indexOf(target)}: ${error.message}`);
      client.destroy();
    });
    client.on('error', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    opened,
    faults,
    isReady: (target) => ready.has(target),
    async close() {
      closing.abort();
      await Promise.all(watching);
      server.close();
    },
  };
}

describe.runIf(onServers)('rolling restart', () => {
  let first: Service;
  let second: Service;
  let balancer: Balancer;
  let receiver: Receiver;
  let client: Client;
  beforeAll(async () => {
    first = await startService({ DRAIN_DELAY: '3s' });
    second = await first.sibling();
    balancer = await startBalancer([first, second]);
    receiver = await startReceiver();
    client = await signIn(first);
  });
  afterAll(async () => {
    await balancer?.close();
    await first?.stop();
    await receiver?.close();
  });

  /** Connections whose server said that it closes them. */
  const announced = new WeakSet<Socket>();
  const cutOff: string[] = [];
  let running = true;
  /** The status, or what the client saw instead. */
  const ask = (agent: Agent | false, method: string, path: string, token: string, body = ''): Promise<number | string> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request({ port: balancer.port, host: '127.0.0.1', agent, method, path, headers }, (answer) => {
        if (answer.headers.connection === 'close') announced.add(answer.socket);
        answer.on('error', (error) => resolve(`broken answer: ${error.message}`));
        answer.on('end', () => resolve(answer.statusCode!)).resume();
      });
      sent.on('socket', (socket) => {
        if (sent.reusedSocket) return;
        socket.once('close', () => running && !announced.has(socket) && cutOff.push(`${method} ${path}`));
      });
      sent.on('error', (error) => resolve(error.message));
      sent.end(body);
    });

  test('refuses and resets no connection, and loses no event', async () => {
    const { key, pipeline } = await pipelineTo(client, receiver.url, { pipeline: { rate_limit_rps: 100_000 } });
    const knows = (service: Service) => fetch(`${service.url}/v1/projects/${key}/settings`).then(({ status }) => status === 200);
    await until('both processes to know the pipeline', async () => (await knows(first)) && (await knows(second)));
    await until('both processes behind the balancer', () => balancer.isReady(first) && balancer.isReady(second));

    const accepted: string[] = [];
    const answers = new Map<string, number>();
    async function clientOf(kind: string, keepAlive: boolean, send: (agent: Agent | false, n: number) => Promise<number | string>) {
      const agent = keepAlive && new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 0; running; n++) {
        const seen = `${kind}: ${await send(agent, n)}`;
        answers.set(seen, (answers.get(seen) ?? 0) + 1);
        await sleep(kind === 'event' ? 10 : 100);
      }
      if (agent) agent.destroy();
    }
    const clients = [true, false].flatMap((keepAlive) => [
      ...Array.from({ length: 8 }, (_, lane) =>
        clientOf('event', keepAlive, async (agent, n) => {
          const messageId = `${keepAlive ? 'kept' : 'fresh'}-${lane}-${n}`;
          const event = JSON.stringify({ type: 'track', event: 'Rolling', anonymousId: `visitor-${lane}`, messageId });
          const status = await ask(agent, 'POST', '/v1/t', key, event);
          if (status === 200) accepted.push(messageId);
          return status;
        }),
      ),
      ...Array.from({ length: 2 }, () =>
        clientOf('read', keepAlive, (agent) => ask(agent, 'GET', `/v1/admin/pipelines/${pipeline.id}`, client.token)),
      ),
      clientOf('change', keepAlive, (agent, n) =>
        ask(agent, 'PUT', `/v1/admin/pipelines/${pipeline.id}`, client.token, JSON.stringify({ name: `Shop ${n}` })),
      ),
    ]);
    await until('some traffic', () => accepted.length > 200);
    for (const service of [first, second]) {
      const other = service === first ? second : first;
      const before = balancer.opened.get(other)!;
      const liveView = watch(service, `?token=${client.token}`);
      await liveView.opened;
      expect(await service.terminate()).toBe(0);
      expect(await liveView.closed, 'the live view is told to come again').toBe(GOING_AWAY);
      expect(balancer.opened.get(other), 'the other process took over').toBeGreaterThan(before);
      const since = balancer.opened.get(service)!;
      await service.start();
      await until('connections to the new process', () => balancer.opened.get(service)! > since + 10);
    }
    running = false;
    await Promise.all(clients);

    const connections = [...balancer.opened.values()].reduce((sum, count) => sum + count, 0);
    console.log(`${connections} connections, ${accepted.length} events, answers ${JSON.stringify(Object.fromEntries(answers))}`);
    expect(balancer.faults).toEqual([]);
    expect(cutOff, 'a kept connection was closed without notice: a request may have been on its way').toEqual([]);
    const errors = [first, second].flatMap((service) =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":"error"')),
    );
    expect([...answers.keys()].toSorted(), errors.join('\n')).toEqual(['change: 200', 'event: 200', 'read: 200']);
    const missing = () => {
      const arrived = new Set(receiver.events().map((event) => event.event_id));
      return accepted.filter((id) => !arrived.has(id));
    };
    await until('every accepted event', () => missing().length === 0);
    const ids = receiver.events().map((event) => event.event_id);
    expect(ids.length, 'nothing is delivered twice').toBe(new Set(ids).size);
  });
});

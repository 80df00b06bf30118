import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { cpuMs, privateMb, watchMemory } from './kit/measure.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

const SOCKETS = 100;

export const f22: Fault = {
  id: 'F22',
  title: `${SOCKETS} debug sockets that never read`,
  limit_s: { quick: 120, normal: 150, full: 150 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const sink = await scope.sink();
    const { key, client } = await scope.pipeline(service, sink.url);
    const port = Number(new URL(service.url).port);
    const accepted = new Set<string>();
    const roundMs = scope.by(3_000, 6_000);
    let round = 0;
    const rate = async () => {
      const cpuBefore = cpuMs(service.pid!);
      const sender = startSender({ port, key, connections: 32, batch: 1, prefix: `debug${round++}` });
      await sleep(roundMs);
      await sender.stop();
      for (const id of sender.accepted) accepted.add(id);
      // Wait for the backlog: it would distort the next measurement.
      await sink.settle(accepted.size, 30_000);
      const cpuPerEvent = (1_000 * (cpuMs(service.pid!) - cpuBefore)) / sender.accepted.size;
      return { perSecond: (sender.accepted.size * 1_000) / roundMs, cpuPerEvent };
    };
    const watchers: Socket[] = [];
    scope.defer(() => {
      for (const socket of watchers) socket.destroy();
    });
    async function watch(): Promise<void> {
      for (let n = 0; n < SOCKETS; n++) {
        const socket = connect(port, '127.0.0.1');
        watchers.push(socket);
        socket.on('error', () => {});
        let said = '';
        await new Promise<void>((resolve, reject) => {
          socket.on('data', (chunk: Buffer) => {
            said += chunk.toString('latin1');
            if (!said.includes('\r\n\r\n')) return;
            socket.pause();
            if (said.startsWith('HTTP/1.1 101')) resolve();
            else reject(new Error(said.slice(0, 200)));
          });
          socket.once('close', () => reject(new Error('closed')));
          socket.write(
            `GET /v1/admin/debug/live HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${client.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
          );
        });
      }
    }
    await rate();
    const alone: Awaited<ReturnType<typeof rate>>[] = [];
    const watched: typeof alone = [];
    const memoryBefore = privateMb(service.pid!);
    const memory = watchMemory(() => service.pid);
    for (let pair = 0; pair < scope.by(2, 3); pair++) {
      alone.push(await rate());
      await watch();
      // The first frames fill the buffers.
      await rate();
      watched.push(await rate());
      for (const socket of watchers.splice(0)) socket.destroy();
      await sleep(1_000);
    }
    memory.stop();
    const best = (rounds: typeof alone) => ({
      perSecond: Math.max(...rounds.map((one) => one.perSecond)),
      cpuPerEvent: Math.min(...rounds.map((one) => one.cpuPerEvent)),
    });
    const [without, withThem] = [best(alone), best(watched)];
    figures.tell('ingest with nobody watching', without.perSecond, 'events/s');
    figures.tell(`ingest with ${SOCKETS} who do not read`, withThem.perSecond, 'events/s');
    figures.tell('processor time of an event, in and out, nobody watching', without.cpuPerEvent, 'µs');
    // CPU time, because throughput on a busy machine varies by more than the bound.
    figures.atMost('more processor time an event with them', 100 * (withThem.cpuPerEvent / without.cpuPerEvent - 1), 5, '%');
    figures.atMost('peak private memory above the start', memory.peak - memoryBefore, 300, 'MB');
    compare(figures, accepted, await sink.ids(), { repeatedPercent: 0 });
    return figures.verdict;
  },
};

import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures, SERVERS } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import type { Scope } from './kit/scope.ts';
import { Line } from './kit/sender.ts';

/** Stops gracefully between the rounds: duplicates are allowed after a crash, but not here. */
const ROUNDS = 4;

async function repeats(scope: Scope, figures: Figures, servers: boolean): Promise<void> {
  const perRound = scope.by(500, 3_000);
  const service = await scope.service({}, { servers });
  const sink = await scope.sink();
  const { key } = await scope.pipeline(service, sink.url);
  const port = Number(new URL(service.url).port);
  const accepted = new Set<string>();
  const known: string[] = [];
  let fresh = 0;
  let repeated = 0;
  async function lane(upTo: number): Promise<void> {
    const line = (await until('a connection', () => Line.open(port)))!;
    while (fresh + repeated < upTo) {
      const again = known.length > 20 && Math.random() < 0.3;
      const id = again ? known[Math.floor(Math.random() * known.length)]! : `id-${fresh}`;
      if (again) repeated++;
      else fresh++;
      const body = `{"type":"track","event":"Again","messageId":"${id}","anonymousId":"a${id.length}"}`;
      const answer = await line.ask(
        `POST /v1/t HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      if (answer?.status === 200) {
        accepted.add(id);
        known.push(id);
      }
    }
    line.end();
  }
  for (let round = 1; round <= ROUNDS; round++) {
    await Promise.all(Array.from({ length: 16 }, () => lane(round * perRound)));
    if (round === ROUNDS) break;
    await service.terminate();
    await service.start();
  }
  await sink.settle(accepted, 60_000);
  await sleep(1_000);
  figures.tell('requests', fresh + repeated);
  figures.holds(
    'of them repeats',
    'about 30 %',
    repeated / (fresh + repeated) > 0.25,
    `${((100 * repeated) / (fresh + repeated)).toFixed(1)} %`,
  );
  compare(figures, accepted, await sink.ids(), { repeatedPercent: 0 });
}

export const f26: Fault = {
  id: 'F26',
  title: '30 % repeated messageIds, restarts in between',
  limit_s: { quick: 120, normal: 200, full: 200 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    await repeats(scope, figures, false);
    await scope.close();
    await repeats(scope, figures.on(SERVERS), true);
    return figures.verdict;
  },
};

import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { arrivalsOf, compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

/** 1 in 100 events is poison, alternately for the pipeline's code and for the integration's template. */
const EVERY = 100;
const TEMPLATE = '{"event_id":"{{event_id}}","n":{{properties.value}}}';

export const f11: Fault = {
  id: 'F11',
  title: 'poison events, 1 in 100',
  limit_s: { quick: 120, normal: 240, full: 400 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const wanted = scope.by(5_000, 50_000, 100_000);
    const service = await scope.service();
    const pid = service.pid;
    const sink = await scope.sink();
    const { key, client, pipeline } = await scope.pipeline(service, sink.url, { payload_format: 'custom', payload_template: TEMPLATE });
    await client.post(`/pipelines/${pipeline.id}/transformations`, {
      name: 'Chokes',
      kind: 'code',
      code: 'function transform(event) { if (event.traits && event.traits.poison) throw new Error("poisoned"); return event; }',
      event_filter: { event_names: ['Poison'] },
      enabled: true,
    });
    const poison = new Set<string>();
    const kindOf = (n: number) => (n % EVERY !== 0 ? 'good' : n % (2 * EVERY) === 0 ? 'code' : 'template');
    const sender = startSender({
      port: Number(new URL(service.url).port),
      key,
      connections: 4,
      batch: 50,
      prefix: 'poison',
      may: () => sender.accepted.size < wanted && sender.accepted.size - sink.distinct < 6_000,
      // The last duplicate key wins, as in any JSON parser.
      fields: (n) => {
        const kind = kindOf(n);
        if (kind !== 'good') poison.add(`poison-${n - 1}`);
        if (kind === 'code') return ',"event":"Poison","traits":{"poison":true},"properties":{"value":1}';
        return `,"properties":{"value":${kind === 'template' ? '"no number"' : n}}`;
      },
    });
    await until('all accepted', () => sender.accepted.size >= wanted, 200_000);
    await sender.stop();
    const good = new Set([...sender.accepted].filter((id) => !poison.has(id)));
    const bad = sender.accepted.size - good.size;
    await sink.settle(good.size, 100_000);
    const arrived = await sink.ids();
    compare(figures, good, arrived, { repeatedPercent: 0 });
    figures.equal('poison that arrived', [...arrived.ids].filter((id) => poison.has(id)).length, 0);
    await until('the dead letters', async () => (await client.get(`/dlq?pipeline_id=${pipeline.id}&limit=1`)).total >= bad, 30_000).catch(
      () => {},
    );
    await sleep(500);
    const ids: string[] = [];
    const stages = new Map<string, number>();
    let unexplained = 0;
    for (let offset = 0; ; offset += 100) {
      const page = await client.get(`/dlq?pipeline_id=${pipeline.id}&limit=100&offset=${offset}`);
      for (const letter of page.dead_letters) {
        ids.push(letter.event_id);
        stages.set(letter.stage, (stages.get(letter.stage) ?? 0) + 1);
        if (!letter.reason || !letter.stage) unexplained++;
      }
      if (page.dead_letters.length < 100) break;
    }
    const { ids: distinct, repeated } = arrivalsOf(ids);
    figures.equal('dead letters', distinct.size, bad);
    figures.equal('dead letters twice', repeated.size, 0);
    figures.equal('without stage or reason', unexplained, 0);
    figures.tell('stages', [...stages].map(([stage, count]) => `${stage} ${count}`).join(', '));
    figures.equal('restarts', service.pid === pid && service.ended() === undefined ? 0 : 1, 0);
    return figures.verdict;
  },
};

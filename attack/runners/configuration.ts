import type { Client } from '../../e2e/harness/client.ts';
import { corpus, expand, type Named, type Repeated } from '../corpus.ts';
import type { Runner } from '../target.ts';

type Entry = Named & Repeated;
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const webhook = (config: object) => ({ name: 'Hostile', vendor: 'webhook', config: { url: 'http://127.0.0.1:9/', ...config } });
const mapped = (event: object) => ({ events: { E: event }, defaults: { action: 'drop' } });

/** Templates by themselves; each is refused or compiles. */
export const templates: Runner = {
  name: 'templates',
  async run({ client }, rounds, note) {
    for (const _round of rounds)
      for (const entry of corpus<Entry>('templates')) {
        const { status } = await save(client, webhook({ payload_template: expand(entry) }));
        note(entry.name, status, status === 201 || status === 422);
      }
  },
};

/** Patterns one by one, then by the thousand: in filters, in a tracking plan, for bots, and a value map of 50,000 keys. */
export const patterns: Runner = {
  name: 'patterns',
  async run({ client, pipelineId }, rounds, note) {
    const fine = (status: number) => status === 200 || status === 201 || status === 422;
    for (const round of rounds) {
      for (const entry of corpus<Entry>('patterns')) {
        const filter = { field: 'properties.a', op: 'matches', value: expand(entry) };
        const { status } = await save(client, webhook(mapped({ filter, mappings: [] })));
        note(entry.name, status, fine(status));
      }
      const filters = many(500, (i) => ({ field: 'properties.a', op: 'matches', value: `^[a-z]{${i + 1 + round}}x$` }));
      const crowds: [name: string, method: string, path: string, body: object][] = [
        ['500 matches filters', 'POST', '/integration-templates', webhook(mapped({ filter: { any: filters }, mappings: [] }))],
        [
          'a value map of 50,000 keys',
          'POST',
          '/integration-templates',
          webhook(
            mapped({
              mappings: [{ source: 'properties.a', target: 'a', value_map: Object.fromEntries(many(50_000, (i) => [`k${i}`, 'v'])) }],
            }),
          ),
        ],
        [
          'a tracking plan with 3,000 patterns',
          'PUT',
          `/pipelines/${pipelineId}/tracking-plan`,
          { events: { E: { properties: Object.fromEntries(many(3_000, (i) => [`p${i}`, { pattern: `^[a-z]{${1 + (i % 900)}}$` }])) } } },
        ],
        [
          'the largest plan that fits',
          'PUT',
          `/pipelines/${pipelineId}/tracking-plan`,
          { events: { E: { properties: Object.fromEntries(many(600, (i) => [`p${i}`, { pattern: `^[a-z]{2,10}${i + round}$` }])) } } },
        ],
        ['patterns for bots', 'PUT', '/data-layer', { config: { bot_filtering: { custom_patterns: many(100, (i) => `\\p{L}{20}${i}`) } } }],
      ];
      for (const [name, method, path, body] of crowds) {
        const { status } = await client.call(method, path, body);
        note(name, status, fine(status));
      }
    }
  },
};

const save = (client: Client, body: object) => client.call('POST', '/integration-templates', body);

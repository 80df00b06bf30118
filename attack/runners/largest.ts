/**
 * The largest requests that are valid, and mappings that make the most of the largest event: each previewed, tried and delivered. Every
 * one is accepted, or refused with the name of a budget.
 */
import { send } from '../../e2e/harness/client.ts';
import type { Runner } from '../target.ts';

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const TEXT = 'x'.repeat(900_000);
const event = (properties: object) => ({ type: 'track', event: 'E', properties });
/** By the round: equal configurations are compiled once. */
const rows = (round: number, row: (i: number) => object) => ({
  events: { E: { mappings: many(1_000, row) }, [`Round ${round}`]: { mappings: [] } },
});

/** 15,000 texts; 6,000 rows of a mapping with 18,000 values. Documents may have 20,000 values. */
const EVENTS: readonly [name: string, event: object][] = [
  ['15,000 texts', event(Object.fromEntries(many(15_000, (i) => [`a_${i}`, `a text of some length ${i}`])))],
  ['9,000 objects', event({ list: many(9_000, (i) => ({ a: i })) })],
  ['one text', event({ text: TEXT })],
  ['texts of addresses', event({ list: many(18_000, (i) => `visitor${i}@mail.example +49 170 ${1_000_000 + i}`) })],
];
const CONFIGS: readonly [name: string, config: (round: number) => object][] = [
  [
    '6,000 rows',
    (round) => ({
      events: Object.fromEntries(
        many(6, (n) => [`E ${n}`, { mappings: many(1_000, (i) => ({ source: `properties.a_${n}_${round}_${i}`, target: `b_${i}` })) }]),
      ),
    }),
  ],
];
const objects = (size: number) => ({ list: many(size * 24_000, (i) => ({ a: i })) });
const list = (size: number) => ({ list: many(size * 150_000, (i) => i) });
const fields = (size: number) => Object.fromEntries(many(size * 45_000, (i) => [`a${i}`, i]));
const text = () => ({ text: TEXT });
const texts = (size: number) => ({ list: many(100, () => 'Aé b-c. 12'.repeat(size * 800)) });
/** Each with the properties of the largest event: `size` is 1 for one that is sent, and less for one in a request to the API. */
const HOSTILE: readonly [name: string, config: (round: number) => object, properties: (size: number) => object][] = [
  ['copies of 9,000 objects', (round) => rows(round, (i) => ({ source: '$', target: `t${i}` })), objects],
  ['copies of a text', (round) => rows(round, (i) => ({ template: '{{properties.text}}', target: `t${i}` })), text],
  [
    'enrichments that copy the properties into themselves',
    (round) => ({
      events: {
        E: {
          enrichments: many(40, (i) => ({ source: 'properties', target: `properties.p${i}` })),
          mappings: [{ source: '$', target: '$' }],
        },
        [`Round ${round}`]: { mappings: [] },
      },
    }),
    objects,
  ],
  [
    'enrichments that write to an object of many fields',
    (round) => ({
      events: {
        E: { enrichments: many(1_000, (i) => ({ value: i, target: `properties.a${i}` })), mappings: [{ source: 'event', target: 'e' }] },
        [`Round ${round}`]: { mappings: [] },
      },
    }),
    fields,
  ],
  [
    'transforms of a payload of many fields',
    (round) => ({
      events: {
        E: {
          mappings: [{ source: 'properties', target: 'p' }],
          transforms: many(1_000, (i) => ({ target: `p.a${i}`, transforms: ['to_string'] })),
        },
        [`Round ${round}`]: { mappings: [] },
      },
    }),
    fields,
  ],
  ['loops over a list', (round) => rows(round, (i) => ({ template: '{{#each properties.list}}{{/each}}', target: `t${i}` })), list],
  ['searches of a list', (round) => rows(round, (i) => ({ source: 'properties.list[*].no', target: `t${i}[*].a` })), list],
  ['names in one level', (round) => rows(round, (i) => ({ source: 'properties', target: `t${i}`, transforms: ['flatten'] })), fields],
  [
    'texts of an object',
    (round) => rows(round, (i) => ({ source: 'properties', target: `t${i}`, transforms: ['json_stringify', 'sha256'] })),
    fields,
  ],
  [
    'hashes of a text',
    (round) => rows(round, (i) => ({ source: 'properties.text', target: `t${i}`, transforms: ['lowercase', 'sha256'] })),
    text,
  ],
  ...[['sha256'], ['md5'], ['join'], ['base64'], [{ name: 'replace', args: ['.', ''] }]].map((transforms): (typeof HOSTILE)[number] => [
    `${JSON.stringify(transforms)} of 100 texts`,
    (round) => rows(round, (i) => ({ source: 'properties.list', target: `t${i}`, transforms })),
    texts,
  ]),
  ['hashes of a list', (round) => rows(round, (i) => ({ source: 'properties.list', target: `t${i}`, transforms: ['sha256'] })), list],
  [
    'conditions on a text',
    (round) => rows(round, (i) => ({ value: 1, target: `t${i}`, when: { field: 'properties.text', op: 'contains', value: `${i}` } })),
    text,
  ],
];

export const largest: Runner = {
  name: 'largest',
  async run({ client, service, key, pipelineId }, rounds, note) {
    const call = async (name: string, method: string, path: string, body?: object) => {
      const { status, body: answer } = await client.call(method, path, body);
      note(
        `${method} ${path.replaceAll(/_[0-9a-z]{26}/g, '')} ${name}`,
        status,
        status < 300 || (status === 422 && JSON.stringify(answer).includes('budget')),
      );
      return answer;
    };
    for (const round of rounds) {
      for (const [name, one] of EVENTS) {
        const made = await call(name, 'POST', '/test-cases', { name, event: one });
        await call(name, 'GET', '/test-cases?limit=100');
        await call(name, 'DELETE', `/test-cases/${made.id}`);
        await call(name, 'POST', '/mapping/preview', { vendor: 'webhook', config: { url: 'http://127.0.0.1:9/' }, event: one });
        await call(name, 'POST', '/transformations/test', { kind: 'code', code: 'function transform(event) { return event }', event: one });
        await call(name, 'POST', '/transformations/test', {
          kind: 'rules',
          rules: many(200, (i) => ({ type: 'set', target: `properties.a_${i}`, value: i })),
          event: one,
        });
      }
      for (const [name, config] of CONFIGS) {
        const body = { vendor: 'webhook', config: { url: 'http://127.0.0.1:9/', ...config(round) } };
        await call(name, 'POST', '/mapping/preview', { ...body, event: event({}) });
        const {
          template: { id },
        } = await call(name, 'POST', '/integration-templates', { name: `Large ${round}`, ...body });
        await call(name, 'POST', `/integration-templates/${id}/revisions`, { config: body.config });
        await call(name, 'POST', `/integration-templates/${id}/revisions/diff`, { from: 1, to: 2, pipeline_id: pipelineId });
      }
      for (const [name, config, properties] of HOSTILE) {
        const body = { vendor: 'webhook', config: { url: 'http://127.0.0.1:9/', ...config(round) } };
        await call(name, 'POST', '/mapping/preview', { ...body, event: event(properties(0.1)) });
        const { id } = await call(name, 'POST', '/integrations', { ...body, name, source_id: pipelineId, enabled: true });
        const { status } = await send(service, key, '/v1/t', { ...event(properties(1)), anonymousId: `${round}` });
        note(`event ${name}`, status, status === 200);
        await call(name, 'POST', `/pipelines/${pipelineId}/integrations/${id}/test`, { event: event(properties(0.1)) });
        await call(name, 'DELETE', `/pipelines/${pipelineId}/integrations/${id}`);
      }
    }
  },
};

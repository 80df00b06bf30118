import { createHmac } from 'node:crypto';
import { send, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';

const SECRET = 'a-shared-secret-of-the-vendor';
const MARK = 'polluted';

/** 200 attempts at prototype pollution: key, position and value vary. */
function pollutions(): string[] {
  const keys = ['"__proto__"', '"\\u005f\\u005fproto\\u005f\\u005f"', '"constructor"', '"prototype"'];
  const payloads = [
    `{"${MARK}":true}`,
    `{"prototype":{"${MARK}":true}}`,
    `{"toString":"${MARK}"}`,
    `{"__proto__":{"${MARK}":true}}`,
    `["${MARK}"]`,
  ];
  const places: ((key: string, payload: string) => string)[] = [
    (key, payload) => `,${key}:${payload}`,
    (key, payload) => `,"properties":{${key}:${payload}}`,
    (key, payload) => `,"traits":{${key}:${payload}}`,
    (key, payload) => `,"context":{${key}:${payload}}`,
    (key, payload) => `,"context":{"page":{${key}:${payload}}}`,
    (key, payload) => `,"context":{"consent":{"categories":{${key}:${payload}}}}`,
    (key, payload) => `,"context":{"campaign":{${key}:${payload}}}`,
    (key, payload) => `,"context":{"traits":{${key}:${payload}}}`,
    (key, payload) => `,"properties":{"list":[{${key}:${payload}}]}`,
    (key, payload) => `,"properties":{"deep":{"deeper":{${key}:${payload}}}}`,
  ];
  return keys.flatMap((key) => payloads.flatMap((payload) => places.map((place) => place(key, payload))));
}

/** JSON text of a property's value, sent verbatim. */
const STRINGS: { name: string; json: Buffer | string; wanted: 200 | 400 }[] = [
  { name: 'lone high surrogate, escaped', json: '"a\\ud800b"', wanted: 200 },
  { name: 'lone low surrogate, escaped', json: '"a\\udc00b"', wanted: 200 },
  { name: 'reversed pair, escaped', json: '"\\udc00\\ud800"', wanted: 200 },
  { name: 'NUL, escaped', json: '"a\\u0000b"', wanted: 200 },
  { name: 'every control character, escaped', json: JSON.stringify(String.fromCharCode(...Array(32).keys())), wanted: 200 },
  { name: 'U+2028, U+2029, BOM, noncharacters', json: JSON.stringify('\u2028\u2029\ufeff\uffff\ufffe\u{10ffff}'), wanted: 200 },
  { name: 'emoji and combining marks', json: JSON.stringify('👩‍👩‍👧‍👦 e\u0301 ﷺ \u202eabc'), wanted: 200 },
  { name: 'quotes, slashes, markup', json: JSON.stringify('"\\/\b\f\n\r\t</script>\'{{event}}'), wanted: 200 },
  { name: 'large and small numbers', json: '[1e308,-0.1,5e-324,9007199254740991,-9007199254740991]', wanted: 200 },
  { name: 'NUL, raw', json: Buffer.from([0x22, 0x61, 0x00, 0x22]), wanted: 400 },
  { name: 'overlong slash (C0 AF)', json: Buffer.from([0x22, 0xc0, 0xaf, 0x22]), wanted: 400 },
  { name: 'overlong NUL (E0 80 80)', json: Buffer.from([0x22, 0xe0, 0x80, 0x80, 0x22]), wanted: 400 },
  { name: 'surrogate as UTF-8 (ED A0 80)', json: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), wanted: 400 },
  { name: 'beyond U+10FFFF (F4 90 80 80)', json: Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]), wanted: 400 },
  { name: 'a lone continuation byte', json: Buffer.from([0x22, 0x80, 0x22]), wanted: 400 },
];

export const f20: Fault = {
  id: 'F20',
  title: 'prototype pollution; strange text (F20–F21)',
  limit_s: { quick: 90, normal: 120, full: 120 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const pid = service.pid;
    const vendor = await scope.receiver();
    const { key, client, pipeline } = await scope.pipeline(service, vendor.url, {
      authentication: 'hmac',
      hmac_secret: SECRET,
      hmac_header: 'X-Signature',
    });
    await client.post(`/pipelines/${pipeline.id}/transformations`, {
      name: 'Copies',
      kind: 'rules',
      rules: [{ type: 'set', target: 'properties.set', value: 1 }],
      event_filter: { event_names: ['Pollute'] },
      enabled: true,
    });
    const arrived = (id: string) => vendor.requests.find((request) => request.headers['webhook-id'] === id);

    const bodies = pollutions();
    let accepted = 0;
    let polluted = 0;
    for (const [n, body] of bodies.entries()) {
      const reply = await send(service, key, '/v1/t', `{"type":"track","event":"Pollute","messageId":"bad-${n}"${body}}`);
      if (reply.status === 200) accepted++;
      if (n % 20 === 19) {
        const id = `clean-${n}`;
        await send(service, key, '/v1/t', { type: 'track', event: 'Clean', messageId: id, properties: { own: 1 } });
        const clean = await until('a clean event', () => arrived(id));
        const own = JSON.parse(clean.body).properties as Record<string, unknown>;
        if (clean.body.includes(MARK) || Object.keys(own).join() !== 'own') polluted++;
      }
    }
    figures.tell('hostile events sent', bodies.length);
    await until(
      'every accepted one',
      () => vendor.requests.filter((r) => String(r.headers['webhook-id']).startsWith('bad-')).length >= accepted,
      20_000,
    ).catch(() => {});
    figures.equal(
      'hostile events accepted and delivered',
      vendor.requests.filter((r) => String(r.headers['webhook-id']).startsWith('bad-')).length,
      accepted,
    );
    figures.equal('later events that show a trace of them', polluted, 0);
    const kept = bodies.map((body, n) => ({ body, n })).filter(({ body }) => body.startsWith(',"properties":{"__proto__":{"polluted"'));
    const asData = kept.every(({ n }) => arrived(`bad-${n}`)?.body.includes(`"__proto__":{"${MARK}":true}`));
    figures.equal('__proto__ in properties delivered as data', kept.length > 0 && asData ? 'yes' : 'no', 'yes');

    for (const { name, json, wanted } of STRINGS) {
      const id = `text-${STRINGS.findIndex((one) => one.name === name)}`;
      const value = Buffer.isBuffer(json) ? json : Buffer.from(json);
      const body = Buffer.concat([
        Buffer.from(`{"type":"track","event":"Text","messageId":"${id}","properties":{"value":`),
        value,
        Buffer.from('}}'),
      ]);
      const reply = await send(service, key, '/v1/t', body);
      if (wanted !== 200) {
        figures.equal(name, reply.status, wanted);
        continue;
      }
      const request = reply.status === 200 ? await until(name, () => arrived(id)).catch(() => undefined) : undefined;
      const delivered = request && (JSON.parse(request.body) as { properties: { value: unknown } }).properties.value;
      const same = request !== undefined && JSON.stringify(delivered) === JSON.stringify(JSON.parse(value.toString()));
      const signed =
        request?.headers['x-signature'] ===
        `sha256=${createHmac('sha256', SECRET)
          .update(request?.body ?? '')
          .digest('hex')}`;
      figures.holds(
        name,
        'equal, signed',
        same && signed,
        reply.status === 200 ? `${same ? 'equal' : 'changed'}, ${signed ? 'signed' : 'bad signature'}` : `HTTP ${reply.status}`,
      );
    }
    const wrong = vendor.requests.filter(
      (request) => request.headers['x-signature'] !== `sha256=${createHmac('sha256', SECRET).update(request.body).digest('hex')}`,
    );
    figures.equal(`bad signatures of ${vendor.requests.length}`, wrong.length, 0);
    figures.equal('the process', service.pid === pid && service.ended() === undefined ? 'lives' : 'ended', 'lives');
    return figures.verdict;
  },
};

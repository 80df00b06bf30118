import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import webhook from '../../catalog/src/vendors/webhook/vendor.ts';
import { aPipeline, FULL, KEY } from '../test/fixtures.ts';
import { buildCollector, CollectorConfigError, snippet } from './builder.ts';
import { constantsOf } from './features.ts';

const build = (pipeline = aPipeline(), more: Partial<Parameters<typeof buildCollector>[0]> = {}) =>
  buildCollector({ pipeline, client_side: [], ...more });
const gzipped = (code: string) => gzipSync(code, { level: 9 }).length;

describe('a build', () => {
  test('fits its budget, and contains only the features of the pipeline', async () => {
    const core = await build();
    const full = await build(FULL);
    expect(gzipped(core.code)).toBeLessThanOrEqual(3000);
    expect(gzipped(full.code)).toBeLessThanOrEqual(6000);
    for (const part of ['OneTrust', 'Cookiebot', '__tcfapi', '_df_x', 'vendor_ids', 'querySelectorAll']) {
      expect(core.code).not.toContain(part);
      expect(full.code).toContain(part);
    }
    const one = await build(aPipeline({ consent_config: { provider: 'didomi' } }));
    expect(one.code).toContain('Didomi');
    expect(one.code).not.toContain('Cookiebot');
  });

  test('fits its budget with any key, although random text compresses differently', async () => {
    const { code } = await build();
    const keys = Array.from(
      { length: 300 },
      (_, i) => `pk_${createHash('sha512').update(`${i}`).digest('base64url').toLowerCase().slice(0, 32)}`,
    );
    expect(keys[0]).toHaveLength(KEY.length);
    expect(Math.max(...keys.map((key) => gzipped(code.replaceAll(KEY, key))))).toBeLessThanOrEqual(3000);
  });

  test('internationalised domains are stored in punycode, as links have them', () => {
    const cross_domain_domains = ['*.Bücher.example', 'münchen.example:8080', 'plain.example', 'localhost:3000'];
    const { C_DOMAINS } = constantsOf({ pipeline: aPipeline({ cross_domain: true }, { cross_domain_domains }), client_side: [] });
    expect(C_DOMAINS).toEqual(['xn--bcher-kva.example', 'xn--mnchen-3ya.example:8080', 'plain.example', 'localhost:3000']);
  });

  test('is deterministic, and has a hash, size, integrity and source map', async () => {
    const [a, b] = await Promise.all([build(), build()]);
    expect(a).toEqual(b);
    expect(a.version_hash).toBe(createHash('sha256').update(a.code).digest('hex').slice(0, 16));
    expect(a.file_size_bytes).toBe(Buffer.byteLength(a.code));
    expect(a.integrity).toBe(`sha384-${createHash('sha384').update(a.code).digest('base64')}`);
    expect((await build(aPipeline({ cross_domain: true }))).version_hash).not.toBe(a.version_hash);
    const map = JSON.parse(a.map) as { sources: string[]; sourcesContent: string[] };
    expect(map.sources).toContain('src/main.ts');
    expect(map.sources.every((source) => !source.startsWith('/') && !source.startsWith('..'))).toBe(true);
    expect(a.code).not.toContain('sourceMappingURL');
  });

  test('is marked for eager compilation', async () => {
    const { code, map } = await build();
    expect(code).toMatch(/^\/\/# allFunctionsCalledOnLoad\n\(/); // recognised only at the very beginning
    expect(JSON.parse(map).mappings).toMatch(/^;/); // the source map accounts for the line
  });

  test('leaves no esbuild process behind', async () => {
    await Promise.all([build(), build(FULL)]);
    const children = () => execFileSync('ps', ['--ppid', String(process.pid), '-o', 'args='], { encoding: 'utf8' });
    await expect.poll(children).not.toMatch(/esbuild.*--service/);
  });

  test('a self-hosted file contains the ingest URL, with or without a trailing slash', async () => {
    const pipeline = aPipeline({ delivery_method: 'download' });
    const codes = await Promise.all(['https://in.example/x', 'https://in.example/x/'].map((ingest_url) => build(pipeline, { ingest_url })));
    expect(codes[0]!.code).toContain('"https://in.example/x"');
    expect(codes[1]!.code).toBe(codes[0]!.code);
  });

  test('uses no eval, new Function, document.write or innerHTML', async () => {
    const { code } = await build(FULL);
    expect(code).not.toMatch(/\beval\b|new Function|document\.write|innerHTML/);
  });

  test('user input stays data', async () => {
    const nasty = `"};alert(1);({"</script><!--\u2028\${x}\\`;
    const pipeline = aPipeline(
      {
        variables: [{ name: nasty, source: 'selector', path: nasty, target: 'properties.x' }],
        consent_config: { provider: 'auto', required_category: nasty },
        vendor_syncs: { meta: { enabled: true, consent_category: nasty } },
        cross_domain: true,
        delivery_method: 'download',
      },
      { cross_domain_domains: [nasty] },
      { pipeline_key: nasty },
    );
    const { code } = await build(pipeline, { ingest_url: nasty });
    expect(code).not.toContain('</script>');
    expect(code).not.toContain('\u2028');
    expect(() => new Script(code)).not.toThrow(); // still parses; hostile.browser.test.ts runs it
  });

  test('constants survive JSON for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (path, category) => {
        const constants = constantsOf({
          pipeline: aPipeline({
            variables: [{ name: 'v', source: 'query', path, target: 'properties.v' }],
            vendor_syncs: { meta: { enabled: true, consent_category: category } },
          }),
          client_side: [],
        });
        expect(JSON.parse(JSON.stringify(constants))).toEqual(constants);
      }),
    );
  });

  test.each([
    ['a global that is no identifier', aPipeline({ global_variable: 'a b' }), /global_variable/],
    ['a global that the browser has', aPipeline({ global_variable: 'location' }), /global_variable/],
    [
      'a target that reaches a prototype',
      aPipeline({ variables: [{ name: 'v', source: 'query', path: 'x', target: '__proto__.x' }] }),
      /target/,
    ],
    [
      'a target that every object has',
      aPipeline({ variables: [{ name: 'v', source: 'query', path: 'x', target: 'properties.toString.x' }] }),
      /target/,
    ],
    ['an empty step in a target', aPipeline({ variables: [{ name: 'v', source: 'query', path: 'x', target: 'a..b' }] }), /target/],
  ])('%s is refused with the reason', async (_, pipeline, reason) => {
    await expect(build(pipeline)).rejects.toThrow(CollectorConfigError);
    await expect(build(pipeline)).rejects.toThrow(reason);
  });
});

describe('client-side integrations', () => {
  const integration = (config: Record<string, never> | object) => ({
    client_side: [{ integration_id: 'int_1', vendor: 'webhook', definition: webhook, config: config as never }],
  });
  test('are in the file, with only the code that their mapping uses', async () => {
    const plain = await build(aPipeline(), integration({ url: 'https://hook.example/in' }));
    expect(plain.code).toContain('hook.example');
    const phone = await build(
      aPipeline(),
      integration({
        url: 'https://hook.example/in',
        global: { mappings: [{ source: 'traits.phone', target: 'ph', transforms: ['normalize_phone'] }] },
      }),
    );
    expect(plain.file_size_bytes).toBeLessThan(phone.file_size_bytes - 80_000);
  });
  test.each([
    ['a secret', { url: 'https://hook.example/in', authentication: 'bearer', auth_token: 'abc' }, /auth_token.*secret/],
    ['a missing field', {}, /int_1: url/],
  ])('%s fails the build with the reason', async (_, config, reason) => {
    await expect(build(aPipeline(), integration(config))).rejects.toThrow(reason);
  });
});

describe('the snippet', () => {
  const status = { version_hash: 'abcdef0123456789', integrity: 'sha384-x+y/z=' };
  test.each([
    ['by default the newest build', {}, `<script async src="https://in.example/c/${KEY}/d.js" data-pipeline-key="${KEY}"></script>`],
    [
      'pinned to one build',
      { pinned: true },
      `<script async src="https://in.example/c/${KEY}/abcdef0123456789/d.js" data-pipeline-key="${KEY}" integrity="sha384-x+y/z=" crossorigin="anonymous"></script>`,
    ],
    [
      'behind a path',
      { ingest_url: 'https://example.com/events/' },
      `<script async src="https://example.com/events/c/${KEY}/d.js" data-ingest-url="https://example.com/events" data-pipeline-key="${KEY}"></script>`,
    ],
    [
      'hosted by the site',
      { pipeline: aPipeline({ delivery_method: 'download', script_filename: 'my.js' }) },
      `<script async src="/my.js" data-ingest-url="https://in.example" data-pipeline-key="${KEY}"></script>`,
    ],
    [
      'with characters that mean something in HTML',
      { pipeline: aPipeline({}, {}, { pipeline_key: 'pk_"><b>' }) },
      '<script async src="https://in.example/c/pk_%22%3E%3Cb%3E/d.js" data-pipeline-key="pk_&#34;&#62;&#60;b&#62;"></script>',
    ],
  ])('%s', (_, input, expected) => {
    expect(snippet({ pipeline: aPipeline(), ingest_url: 'https://in.example', status, ...input })).toBe(expected);
  });
});

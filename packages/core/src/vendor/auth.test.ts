import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type CompiledAuth, compileAuth } from './auth.ts';
import { utf8 } from './bytes.ts';
import type { AuthDefinition } from './definition.ts';

const parameters = { token: 'tok', user: 'anna', password: 'pä:ss', mode: 'b' };
const auth = (definition: AuthDefinition): CompiledAuth => {
  const faults: never[] = [];
  const compiled = compileAuth(
    definition,
    { parameters, where: 'auth', redirect: (url) => url.replace('https://id.example', 'https://proxy.example') },
    faults,
  );
  expect(faults).toEqual([]);
  return compiled;
};
const sign = (definition: AuthDefinition, body: string) => {
  const headers: Record<string, string> = { 'x-sig': 'old' };
  auth(definition).sign?.(
    { method: 'POST', url: 'https://a.example/', headers, body: utf8(body) },
    { now: 1_700_000_000_900, attempt: 1, request_id: 'r' },
  );
  return headers;
};

test.each<[AuthDefinition, Partial<CompiledAuth>]>([
  [{ kind: 'none' }, { headers: {}, query: [] }],
  [{ kind: 'bearer', token: '{{parameters.token}}' }, { headers: { Authorization: 'Bearer tok' } }],
  [
    { kind: 'basic', username: '{{parameters.user}}', password: '{{parameters.password}}' },
    { headers: { Authorization: `Basic ${Buffer.from('anna:pä:ss').toString('base64')}` } },
  ],
  [{ kind: 'header', name: 'Api-Key', value: '{{parameters.token}}' }, { headers: { 'Api-Key': 'tok' } }],
  [{ kind: 'query', name: 'key', value: '{{parameters.token}}' }, { query: [['key', 'tok']] }],
  [
    { kind: 'choice', field: 'mode', options: { a: { kind: 'none' }, b: { kind: 'bearer', token: 'chosen' } } },
    { headers: { Authorization: 'Bearer chosen' } },
  ],
  [
    {
      kind: 'oauth2_client_credentials',
      token_url: 'https://id.example/token',
      client_id: 'c',
      client_secret: '{{parameters.token}}',
      scope: 'a b',
    },
    {
      token: {
        kind: 'oauth2_client_credentials',
        token_url: 'https://proxy.example/token',
        client_id: 'c',
        client_secret: 'tok',
        scope: 'a b',
      },
    },
  ],
  [
    { kind: 'oauth2_refresh_token', token_url: 'https://id.example/t', client_id: 'c', client_secret: 's', refresh_token: 'r' },
    {
      token: { kind: 'oauth2_refresh_token', token_url: 'https://proxy.example/t', client_id: 'c', client_secret: 's', refresh_token: 'r' },
    },
  ],
  [
    { kind: 'google_service_account', token_url: 'https://id.example/t', client_email: 'e', private_key: 'k', scope: 's' },
    { token: { kind: 'google_service_account', token_url: 'https://proxy.example/t', client_email: 'e', private_key: 'k', scope: 's' } },
  ],
])('%j', (definition, expected) => {
  expect(auth(definition)).toMatchObject(expected);
});

test('hmac signs the exact bytes, in hex or base64, alone or with a timestamp', () => {
  const mac = (text: string, encoding: 'hex' | 'base64') => createHmac('sha256', 'tok').update(text).digest(encoding);
  const secret = '{{parameters.token}}';
  expect(sign({ kind: 'hmac', header: 'X-Sig', secret }, 'bödy')).toEqual({ 'X-Sig': `sha256=${mac('bödy', 'hex')}` });
  expect(sign({ kind: 'hmac', header: 'X-Sig', secret, prefix: '', encoding: 'base64', timestamp_header: 'X-Time' }, '{}')).toEqual({
    'X-Sig': mac('1700000000.{}', 'base64'),
    'X-Time': '1700000000',
  });
});

test('standard_webhooks: what the libraries of Standard Webhooks verify', () => {
  const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
  const body = '{"name":"Grüße"}';
  for (const given of [secret, secret.slice('whsec_'.length)]) {
    const headers: Record<string, string> = { 'Webhook-Id': 'old' };
    const { sign } = auth({ kind: 'standard_webhooks', secret: given });
    sign?.({ method: 'POST', url: 'https://a.example/', headers, body: utf8(body) }, { now: Date.now(), attempt: 1, request_id: 'evt-1' });
    expect(new Webhook(secret).verify(body, headers)).toEqual({ name: 'Grüße' });
    expect(Object.keys(headers)).toHaveLength(3);
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  }
});

test('sigv4 adds its headers', () => {
  const headers = sign(
    { kind: 'aws_sigv4', access_key_id: 'AK', secret_access_key: '{{parameters.token}}', region: 'eu-west-1', service: 's3' },
    'x',
  );
  expect(headers.Authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AK\/20231114\/eu-west-1\/s3\/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-sig,Signature=[0-9a-f]{64}$/,
  );
});

test.each<[AuthDefinition, field: string, RegExp]>([
  [{ kind: 'bearer', token: '{{parameters.tokn}}' }, 'auth.token', /no value/],
  [{ kind: 'bearer', token: '{{event.user_id}}' }, 'auth.token', /parameters\.NAME/],
  [{ kind: 'basic', username: '{{parameters.none}}', password: 'x' }, 'auth.username', /no value/],
  [{ kind: 'header', name: 'X-Key', value: '{{parameters.none}}' }, 'auth.value', /no value/],
  [{ kind: 'query', name: 'key', value: '{{payload.key}}' }, 'auth.value', /parameters\.NAME/],
  [{ kind: 'hmac', header: 'X-Sig', secret: '{{parameters.none}}' }, 'auth.secret', /no value/],
  [{ kind: 'standard_webhooks', secret: '{{parameters.none}}' }, 'auth.secret', /no value/],
  [
    { kind: 'aws_sigv4', access_key_id: '{{parameters.none}}', secret_access_key: 's', region: 'r', service: 's' },
    'auth.access_key_id',
    /no value/,
  ],
  [
    {
      kind: 'oauth2_client_credentials',
      token_url: 'https://id.example/t',
      client_id: 'c',
      client_secret: '{{parameters.none}}',
      scope: '{{parameters.none}}',
    },
    'auth.client_secret',
    /no value/,
  ],
])('a credential that comes to nothing is a fault, never sent empty: %j', (definition, field, message) => {
  const faults: { field: string; message: string }[] = [];
  compileAuth(definition, { parameters, where: 'auth', redirect: (url) => url }, faults);
  expect(faults).toEqual([{ field, message: expect.stringMatching(message) }]);
});

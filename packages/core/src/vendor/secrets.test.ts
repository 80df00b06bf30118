import { expect, test } from 'vitest';
import { defineVendor } from './define.ts';
import { isSecretParameter, maskRequest, maskSecret, scrubber, secretParameterValues, secretPaths, secretValues } from './secrets.ts';

const vendor = defineVendor({
  key: 'acme',
  name: 'Acme',
  description: 'd',
  category: 'other',
  group: 'custom',
  setup_steps: ['Sign up.'],
  status: 'beta',
  website: 'https://acme.example',
  config_fields: [{ key: 'pass_phrase', label: 'P', type: 'secret', required: true, placeholder: 'p', help_text: 'h' }],
  request: { method: 'POST', url: 'https://api.acme.example/', body: { kind: 'json' } },
  default_action: 'drop',
  variants: [{ key: 'default', name: 'Default', description: 'd', default_config: {} }],
});

test('secrets by type, by name, by header name, in authored requests, under parameters', () => {
  const config = {
    pass_phrase: 'a',
    auth_token: 'b',
    url: 'https://x',
    headers: { Authorization: 'c', 'X-Api-Key': 'd', 'X-Team': 'e' },
    parameters: { pass_phrase: 'f', my_token: 'g', tenant: 'h' },
    requests: [
      { auth: { kind: 'basic', username: 'u', password: 'i' }, headers: { 'x-secret': 'j' } },
      { auth: { kind: 'header', name: 'N', value: 'k' }, query: { apikey: 'm', page: '1' } },
    ],
    events: { X: { mappings: [{ value: 'l', target: 'token' }] } },
    hmac_secret: '',
  };
  expect(secretPaths(vendor, config).map((path) => path.join('.'))).toEqual([
    'pass_phrase',
    'auth_token',
    'headers.Authorization',
    'headers.X-Api-Key',
    'parameters.pass_phrase',
    'parameters.my_token',
    'requests.0.auth.password',
    'requests.0.headers.x-secret',
    'requests.1.auth.value',
    'requests.1.query.apikey',
  ]);
});

test('everything in a free parameter with a telling name is secret, and nothing in a field of the vendor that is not', () => {
  const config = { parameters: { my_token: { a: 'x', b: ['y', true] }, tenants: ['z'], url_keys: ['open'] } };
  const known = {
    ...vendor,
    config_fields: [...vendor.config_fields, { ...vendor.config_fields[0]!, key: 'url_keys', type: 'list' as const }],
  };
  const below = (definition: typeof vendor) => secretPaths(definition, config).map((path) => path.slice(1).join('.'));
  expect(below(vendor)).toEqual(['my_token.a', 'my_token.b.0', 'url_keys.0']);
  expect(below(known)).toEqual(['my_token.a', 'my_token.b.0']);
});

test('a secret that was sent as a number is secret like its text', () => {
  const config = { pass_phrase: 123456, url: 5, timeout_ms: 30, parameters: { my_token: 987654, tenant: 7 } };
  expect(secretPaths(vendor, config)).toEqual([['pass_phrase'], ['parameters', 'my_token']]);
  expect(secretValues(vendor, config)).toEqual(['123456', '987654']);
});

test('a pipeline parameter is secret by a word of its name, not by letters inside a word', () => {
  const secret = [
    'TOKEN',
    'vendor_token',
    'vendorToken',
    'ACCESSTOKEN',
    'TOKEN2',
    'clientSecret',
    'db.password',
    'DB_PWD',
    'passwd',
    'tokens',
  ];
  secret.push(
    'Authorization',
    'GCP_CREDENTIALS',
    'credential',
    'apikey',
    'API_KEY',
    'apiKey',
    'APIKey',
    'MYAPIKEY',
    'api-keys',
    'accessKey',
  );
  secret.push(
    'PRIVATE_KEY',
    'signing.key',
    'ENCRYPTION_KEY',
    'authKey',
    'LICENSE_KEY',
    'licencekey',
    'SECRET_KEY',
    'OAuthToken',
    'API2KEY',
  );
  expect(secret.filter((name) => !isSecretParameter(name))).toEqual([]);
  const open = [
    'KEY',
    'key',
    'MONKEY',
    'KEYWORD',
    'keywords',
    'KEY_VISUAL',
    'PRIMARY_KEY',
    'public_key',
    'META_PIXEL',
    'TOKENIZER',
    'secretary',
  ];
  open.push('API_HOST', 'api', 'AUTH', 'passwordless', 'TURKEY', 'key_access', 'author', '', '123', 'MoNkEy', 'ключ');
  expect(open.filter(isSecretParameter)).toEqual([]);
});

test('parameters that are sealed are secret whatever their names say', () => {
  const parameters = { KEY: 'sealed before', OPEN: 'for everybody', API_KEY: 'abcd', TOKEN: 'abc' };
  expect(secretParameterValues(parameters)).toEqual(['abcd']);
  expect(secretParameterValues(parameters, ['KEY'])).toEqual(['sealed before', 'abcd']);
});

test('headers written as text are secret as a whole where one name is telling', () => {
  expect(secretPaths(vendor, { headers: '{"Authorization":"x"}' })).toEqual([['headers']]);
  expect(secretPaths(vendor, { headers: '{"X-Team":"x"}' })).toEqual([]);
});

test('a URL with a password is secret as a whole, and so is a mask that stands for it', () => {
  expect(secretPaths(vendor, { url: 'redis://user:pass@cache.example:6379/0' })).toEqual([['url']]);
  expect(secretPaths(vendor, { parameters: { url: 'nats://a.example, nats://:pass@b.example' } })).toEqual([['parameters', 'url']]);
  expect(secretPaths(vendor, { url: '••••79/0' })).toEqual([['url']]);
  expect(secretPaths(vendor, { url: 'redis://cache.example:6379/0', path: '/users/a:b@c', note: 'https://a.example/x:y@z' })).toEqual([]);
});

test('masks', () => {
  expect([maskSecret('short'), maskSecret('12345678901'), maskSecret('123456789012')]).toEqual(['••••', '••••', '••••9012']);
});

test('no placeholder and nothing tiny is scrubbed; the longest goes first', () => {
  const config = { pass_phrase: 'abcdefgh', auth_token: 'abcdefghijkl', hmac_secret: '{{pipeline_param.X}}', password: 'ab' };
  expect(secretValues(vendor, config)).toEqual(['abcdefgh', 'abcdefghijkl']);
  expect(scrubber(secretValues(vendor, config))('x abcdefghijkl y abcdefgh z')).toBe('x ••••ijkl y •••• z');
});

test('a request is shown without its secrets, in whatever form they stand', () => {
  const config = { pass_phrase: 'p"ss &word-12345' };
  const request = {
    method: 'POST',
    url: `https://x.example/?k=${encodeURIComponent('p"ss &word-12345')}`,
    headers: { Authorization: 'Bearer abcdefghijklmnop', 'X-Api-Key': 'short', 'X-Plain': 'p"ss &word-12345', 'X-Signature': 'sha256=00' },
    body: JSON.stringify({ k: 'p"ss &word-12345' }),
  };
  const masked = maskRequest(request, secretValues(vendor, config));
  expect(masked).toEqual({
    method: 'POST',
    url: 'https://x.example/?k=••••2345',
    headers: { Authorization: 'Bearer ••••mnop', 'X-Api-Key': '••••', 'X-Plain': '••••2345', 'X-Signature': 'sha256=00' },
    body: '{"k":"••••2345"}',
  });
  expect(maskRequest({ ...request, body: new TextEncoder().encode(request.body) }, secretValues(vendor, config)).body).toBe(
    '{"k":"••••2345"}',
  );
});

test.each([
  ['Authorization', `Basic ${btoa('shop:secret1')}`, 'Basic ••••'],
  ['Authorization', `Basic ${btoa('shop:ab')}`, 'Basic ••••'],
  ['Authorization', `Basic ${btoa('secret1:')}`, 'Basic ••••'],
  ['Authorization', `Basic ${btoa('shop:a-long-secret')}`, 'Basic ••••cmV0'],
  ['Authorization', 'Token secret1', '••••'],
  ['Authorization', 'Token token="ab"', '••••'],
  ['X-Api-Key', 'shop-of-ours-secret1', '••••'],
  ['X-Api-Key', 'shop-of-ours-secret1-a', '••••'],
  ['X-Api-Key', 'shop:a-long-secret', '••••cret'],
  ['X-Signed', 'Token secret1', '••••'],
])('no end of a secret shorter than 12 is shown, however long its header is: %s: %s', (name, value, shown) => {
  const request = { method: 'POST', url: 'https://x.example/', headers: { [name]: value }, body: '' };
  expect(maskRequest(request, ['secret1', 'Token secret1', 'a-long-secret']).headers).toEqual({ [name]: shown });
});

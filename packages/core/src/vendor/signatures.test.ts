/** Signatures against published examples. */
import { createHash, createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { compileAuth, type KeyOperations, type Unsigned } from './auth.ts';
import { serviceBusToken, stringToSign } from './azure.ts';
import type { AuthDefinition } from './definition.ts';
import { authorization } from './oauth1.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const context = { now: Date.UTC(2026, 0, 2, 3, 4, 5), attempt: 1, request_id: 'r' };
const unsigned = (over: Partial<Unsigned> = {}): Unsigned => ({
  method: 'POST',
  url: 'https://api.example/x',
  headers: { 'Content-Type': 'application/json' },
  body: bytes('{}'),
  ...over,
});

test('oauth1: the example of X’s documentation, "Creating a signature"', () => {
  const request = unsigned({
    url: 'https://api.x.com/1.1/statuses/update.json?include_entities=true',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: bytes('status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21'),
  });
  const header = authorization(
    request,
    {
      consumer_key: 'xvz1evFS4wEEPTGEFPHBog',
      consumer_secret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
      token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
      token_secret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
      signature_method: 'HMAC-SHA1',
    },
    'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg',
    1318622958,
  );
  expect(header).toContain('oauth_signature="Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D"');
  expect(header).toContain('oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"');
});

test('azure_shared_key signs the twelve positions, the x-ms headers and the resource', () => {
  const text = stringToSign(
    unsigned({
      method: 'PUT',
      url: 'https://myaccount.blob.core.windows.net/mycontainer/a%20b?Timeout=20&comp=block',
      headers: {
        'Content-Type': 'text/plain',
        'x-ms-version': '2021-12-02',
        'x-ms-date': 'Fri, 02 Jan 2026 03:04:05 GMT',
        'X-MS-Blob-Type': 'BlockBlob',
      },
      body: bytes('hello'),
    }),
    'myaccount',
  );
  expect(text).toBe(
    'PUT\n\n\n5\n\ntext/plain\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:Fri, 02 Jan 2026 03:04:05 GMT\nx-ms-version:2021-12-02\n/myaccount/mycontainer/a%20b\ncomp:block\ntimeout:20',
  );
});

test('azure_service_bus_sas signs the encoded resource and the expiry', () => {
  const resource = 'https://ns.servicebus.windows.net/hub';
  const token = serviceBusToken(resource, 'Root', 'secret', 1_767_326_645);
  const signature = createHmac('sha256', 'secret')
    .update(`${encodeURIComponent(resource)}\n1767326645`)
    .digest('base64');
  expect(token).toBe(
    `SharedAccessSignature sr=${encodeURIComponent(resource)}&sig=${encodeURIComponent(signature)}&se=1767326645&skn=Root`,
  );
});

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const keys: KeyOperations = {
  sign: (_algorithm, key, data) => sign('RSA-SHA256', data, createPrivateKey(key)),
  fingerprint: (key) =>
    createHash('sha256')
      .update(createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' }))
      .digest(),
  // Mutual TLS is tested against a real server (server/src/outbound/mutual-tls.process.test.ts).
  certificate: () => ({ ok: false, message: 'is not read here' }),
};
const compile = (definition: AuthDefinition) => {
  const faults: { field: string; message: string }[] = [];
  const auth = compileAuth(definition, { parameters: { key: pem }, redirect: (url) => url, where: 'auth', keys }, faults);
  return { auth, faults };
};
const jwt = {
  algorithm: 'RS256',
  private_key: '{{parameters.key}}',
  claims: { iss: 'ACC.USER.{{key.fingerprint}}', sub: 'ACC.USER' },
  lifetime_s: 3_600,
} as const;

test('jwt: signed with the customer’s key, in a header of the vendor’s choice, kept while it is valid', () => {
  const { auth, faults } = compile({
    kind: 'jwt',
    jwt: { ...jwt, claims: { ...jwt.claims } },
    place: { header: 'X-Token', prefix: 'Token ' },
  });
  expect(faults).toEqual([]);
  const request = unsigned();
  auth.sign?.(request, context);
  const token = request.headers['X-Token']?.replace(/^Token /, '') ?? '';
  const [head = '', claims = '', signature = ''] = token.split('.');
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT' });
  const fingerprint = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
    iss: `ACC.USER.SHA256:${fingerprint}`,
    sub: 'ACC.USER',
    iat: 1767323045,
    exp: 1767326645,
  });
  expect(verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  const later = unsigned();
  auth.sign?.(later, { ...context, now: context.now + 3_200_000 });
  expect(later.headers['X-Token']).toBe(`Token ${token}`);
  auth.sign?.(later, { ...context, now: context.now + 3_300_000 });
  expect(later.headers['X-Token']).not.toBe(`Token ${token}`);
});

test('jwt: a key that does not parse is a fault that does not quote it', () => {
  const { faults } = compile({ kind: 'jwt', jwt: { ...jwt, claims: {}, private_key: 'nonsense' } });
  expect(faults).toEqual([{ field: 'auth.jwt.private_key', message: 'is not a private key in PEM form' }]);
});

test('oauth2_jwt_bearer: a plan for the deliver role', () => {
  const { auth } = compile({ kind: 'oauth2_jwt_bearer', token_url: 'https://login.example/token', jwt: { ...jwt, claims: { sub: 'me' } } });
  expect(auth.token).toEqual({
    kind: 'oauth2_jwt_bearer',
    token_url: 'https://login.example/token',
    jwt: { algorithm: 'RS256', private_key: pem, claims: { sub: 'me' }, lifetime_s: 3_600 },
  });
});

test.each([
  [{}, { Authorization: 'Bearer t/1' }, 'https://api.example/x'],
  [{ header: 'X-Auth', prefix: '' }, { 'X-Auth': 't/1' }, 'https://api.example/x'],
  [{ query: 'access_token' }, {}, 'https://api.example/x?access_token=t%2F1'],
] as const)('a fetched token goes where the vendor wants it: %j', (place, headers, url) => {
  const { auth } = compile({
    kind: 'oauth2_refresh_token',
    token_url: 'https://login.example/token',
    client_id: 'c',
    client_secret: 's',
    refresh_token: 'r',
    place,
  });
  const request = unsigned({ headers: {} });
  auth.place?.(request, 't/1');
  expect([request.headers, request.url]).toEqual([headers, url]);
});

test('azure_sas: the customer’s query string is appended', () => {
  const { auth } = compile({ kind: 'azure_sas', token: '?sv=2021&sig=a%2Bb%3D' });
  expect(auth.query).toEqual([
    ['sv', '2021'],
    ['sig', 'a+b='],
  ]);
});

/** Mutual TLS against a real server that requires a client certificate. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import webhook from '@firsthand/catalog/vendors/webhook/vendor.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { ClientCertificate, CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { maskRequest } from '@firsthand/core/vendor/secrets.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../runtime/clock.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import { attemptCall } from '../transports/http.ts';
import { createGuardedClient, type GuardedClient } from './guarded-client.ts';
import { testAuthority } from './testing/certificates.ts';
import { createTokenCache } from './tokens.ts';

const authority = testAuthority('Shop CA');
const stranger = testAuthority('Somebody else');
const client = authority.issue('client-1');
const other = authority.issue('client-2');
const expired = authority.issue('old client', { from: new Date('2020-01-01T00:00:00Z'), to: new Date('2020-02-01T00:00:00Z') });
const TIMEOUT_MS = 60_000;

let server: Server;
let url: string;
let seen: string[] = [];
let connections = 0;
const trusted = getCACertificates('default');
beforeAll(async () => {
  setDefaultCACertificates([...trusted, authority.certificate]);
  const own = authority.issue('server');
  server = createServer(
    { cert: own.certificate, key: own.private_key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    (req, res) => {
      seen.push(String((req.socket as TLSSocket).getPeerCertificate().subject.CN));
      res.end(req.url === '/token' ? '{"access_token":"a-token","expires_in":3600}' : '{}');
    },
  );
  server.on('secureConnection', () => connections++);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  server.closeAllConnections();
  server.close();
});

let sender: GuardedClient;
beforeEach(() => {
  seen = [];
  connections = 0;
  sender = createGuardedClient({ allowPrivateDestinations: true, clock: systemClock });
});
afterEach(() => sender.close());
const send = (tls?: ClientCertificate, path = '/') =>
  sender.send({ method: 'POST', url: `${url}${path}`, headers: {}, body: '{}', ...(tls ? { tls } : {}) }, TIMEOUT_MS);

test('the certificate is presented, and connections are shared only under the same certificate', async () => {
  expect(await send(client)).toMatchObject({ kind: 'reply', reply: { status: 200 } });
  expect(await send({ ...client })).toMatchObject({ kind: 'reply', reply: { status: 200 } });
  expect(connections, 'an equal certificate of a later snapshot').toBe(1);
  expect(await send(other)).toMatchObject({ kind: 'reply', reply: { status: 200 } });
  expect(seen).toEqual(['client-1', 'client-1', 'client-2']);
  expect(connections).toBe(2);
});

test('line breaks as two characters, as in a pasted JSON file, are understood', async () => {
  const flat = (text: string) => text.replaceAll('\n', '\\n');
  expect(await send({ certificate: flat(client.certificate), private_key: flat(client.private_key) })).toMatchObject({ kind: 'reply' });
});

// Node's own server closes the connection without a TLS alert where it does not trust a certificate.
test('a server that only closes the connection leaves a hint, and is tried again', async () => {
  expect(await send(stranger.issue('client-1'))).toMatchObject({
    kind: 'failed',
    permanent: false,
    error: 'UND_ERR_SOCKET: other side closed (the destination may have rejected the client certificate)',
  });
  expect(seen).toEqual([]);
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
describe.skipIf(!hasOpenssl)('a server that says why, as OpenSSL does', () => {
  test.each([
    ['no certificate', undefined, 'none was sent'],
    ['a certificate of a stranger', stranger.issue('client-1'), 'its issuer is not trusted there'],
    ['an expired certificate that nobody read', expired, 'it has expired'],
  ] as const)('%s is refused at once, with the reason', async (_name, tls, reason) => {
    const address = await opensslServer();
    const result = await sender.send({ method: 'GET', url: address, headers: {}, ...(tls ? { tls } : {}) }, TIMEOUT_MS);
    expect(result).toMatchObject({
      kind: 'failed',
      permanent: true,
      error: `the destination rejected the client certificate: ${reason}`,
    });
  });
  test('a good certificate is accepted', async () => {
    const result = await sender.send({ method: 'GET', url: await opensslServer(), headers: {}, tls: client }, TIMEOUT_MS);
    expect(result).toMatchObject({ kind: 'reply', reply: { status: 200 } });
  });

  async function opensslServer(): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'firsthand-tls-'));
    const own = authority.issue('server');
    writeFileSync(join(folder, 'server.pem'), own.certificate + own.private_key);
    writeFileSync(join(folder, 'ca.pem'), authority.certificate);
    const flags = ['-accept', '127.0.0.1:0', '-cert', 'server.pem', '-CAfile', 'ca.pem', '-Verify', '1', '-verify_return_error', '-www'];
    const child = spawn('openssl', ['s_server', ...flags], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
    let said = '';
    for await (const chunk of child.stdout) {
      said += chunk;
      const port = /ACCEPT 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port !== undefined) return `https://127.0.0.1:${port}/`;
    }
    throw new Error(`openssl did not listen: ${said}`);
  }
});

test('an expired certificate is known before anything is sent', async () => {
  const result = await send({ ...expired, valid_to: Date.parse('2020-02-01T00:00:00Z') });
  expect(result).toEqual({ kind: 'failed', permanent: true, duration_ms: 0, error: 'the client certificate expired on 2020-02-01' });
  expect(connections).toBe(0);
});

test('a token endpoint gets the certificate too', async () => {
  const rotated = { newest: async () => undefined, keep: async () => undefined };
  const tokens = createTokenCache({ client: sender, clock: systemClock, rotated, logger: { warn: () => undefined } });
  const plan = { kind: 'oauth2_client_credentials', token_url: `${url}/token`, client_id: 'a', client_secret: 'b', tls: client } as const;
  expect(await tokens.get(plan)).toEqual({ kind: 'token', token: 'a-token' });
  expect(seen).toEqual(['client-1']);
});

describe('the webhook vendor', () => {
  const compile = (config: Record<string, string>) =>
    compileVendor(webhook, { url, mutual_tls: 'on', ...config }, { mode: 'development', allow_private: true, keys: privateKeys });
  function compiled(tls: { certificate: string; private_key: string }, more: Record<string, string> = {}): CompiledVendor {
    const result = compile({ client_certificate: tls.certificate, client_key: tls.private_key, ...more });
    if (!result.ok) throw new Error(JSON.stringify(result));
    return result.vendor;
  }
  const event = { type: 'track', event: 'A', event_id: 'e', timestamp: '2026-01-01T00:00:00.000Z', context: {} } as never;
  async function deliver(vendor: CompiledVendor) {
    const built = vendor.build(event, { now: Date.now() });
    if (built.kind !== 'items') throw new Error(built.reason);
    const deps = { client: sender, tokens: { get: () => Promise.reject(new Error('none')), reject: () => undefined }, clock: systemClock };
    return attemptCall(
      {
        token: undefined,
        timeout_ms: TIMEOUT_MS,
        context: { attempt: 1, request_id: 'e' },
        request: (context) => vendor.request(built.items, context),
        read: (reply, context) => vendor.read(reply, built.items, context),
      },
      deps,
    );
  }

  test('delivers with a certificate and a bearer token', async () => {
    const vendor = compiled(client, { authentication: 'bearer', auth_token: 'a-bearer-token' });
    expect((await deliver(vendor)).verdict).toEqual({ kind: 'delivered' });
    expect(seen).toEqual(['client-1']);
    const built = vendor.build(event, { now: 0 });
    const request = vendor.request(built.kind === 'items' ? built.items : [], { now: 0, attempt: 1, request_id: 'e' });
    expect(request.headers.Authorization).toBe('Bearer a-bearer-token');
    expect(JSON.stringify(maskRequest(request, [])), 'a preview shows no certificate').not.toContain('BEGIN');
  });

  test('an expired certificate is refused, and warned about 30 days ahead', async () => {
    expect((await deliver(compiled(expired))).verdict).toEqual({
      kind: 'refused',
      reason: 'the client certificate expired on 2020-02-01',
    });
    const vendor = compiled(expired);
    expect(vendor.expiryWarnings(Date.parse('2020-01-01T00:00:00Z'))).toEqual([]);
    expect(vendor.expiryWarnings(Date.parse('2020-01-05T00:00:00Z'))).toEqual([
      'The client certificate expires on 2020-02-01. Enter a new one.',
    ]);
    expect(vendor.expiryWarnings(Date.now())).toEqual(['The client certificate expired on 2020-02-01. Enter a new one.']);
  });

  test.each([
    ['no certificate', { client_certificate: '', client_key: client.private_key }, 'client_certificate', 'is required'],
    ['no key', { client_certificate: client.certificate, client_key: '' }, 'client_key', 'is required'],
    [
      'the key in the wrong field',
      { client_certificate: client.private_key, client_key: client.private_key },
      'client_certificate',
      /must be a certificate/,
    ],
    ['another key', { client_certificate: client.certificate, client_key: other.private_key }, 'requests[0].auth.certificate', /belong/],
    [
      'a broken certificate',
      { client_certificate: '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----', client_key: client.private_key },
      'requests[0].auth.certificate',
      /is not a certificate/,
    ],
  ] as const)('%s is a fault of the config', (_name, config, field, message) => {
    const result = compile(config);
    if (result.ok) throw new Error('it compiled');
    expect([...result.missing, ...result.invalid]).toEqual([{ field, message: expect.stringMatching(message) }]);
  });
});

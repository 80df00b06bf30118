import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { driverOptions } from '../testing/conformance.ts';
import { testKills } from '../testing/kills.ts';
import { openAzureBlob } from './azure-blob.ts';
import { openGcs } from './gcs.ts';
import { openS3 } from './s3.ts';
import { azureError, azureService } from './testing/azure-service.ts';
import { describeFileTarget, fileRecord, idsIn } from './testing/conformance.ts';
import { gcsError, gcsService } from './testing/gcs-service.ts';
import { type Fault, ObjectServer } from './testing/object-server.ts';
import { s3Error, s3Service } from './testing/s3-service.ts';

const aws = { access_key_id: 'AKIAEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG', region: 'eu-central-1', bucket: 'acme-events' };
const keys = () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const google = { client_email: 'writer@acme.iam.gserviceaccount.com', private_key: keys(), bucket: 'acme-events' };
const azure = {
  account: 'acmeevents',
  account_key: 'bXkgYWNjb3VudCBrZXk=',
  sas_token: 'sv=2022-11-02&sp=cw&sig=c2ln',
  container: 'events',
};

const servers = new Map<string, ObjectServer>();
beforeAll(async () => {
  servers.set('s3', await ObjectServer.start(s3Service(aws)));
  servers.set('old s3', await ObjectServer.start(s3Service({ ...aws, conditional: false })));
  servers.set('gcs', await ObjectServer.start(gcsService(google)));
  servers.set('azure', await ObjectServer.start(azureService(azure)));
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.stop())));

function serverOf(name: string): ObjectServer {
  const server = servers.get(name);
  if (!server) throw new Error(`${name} is not started`);
  return server;
}
function behaviour(name: string, throttled: Fault) {
  return {
    objects: async () => serverOf(name).objects,
    breaks: ['cut', 'lost'] as const,
    breakNext: (when: 'cut' | 'lost') => void serverOf(name).faults.push(when),
    throttleNext: () => void serverOf(name).faults.push(throttled),
    stop: () => serverOf(name).stop(),
    resume: () => serverOf(name).resume(),
  };
}
const wait = { 'retry-after': '7' };

for (const name of ['s3', 'old s3'])
  describeFileTarget(name === 's3' ? 'Amazon S3' : 'S3 without conditional writes', () => ({
    open: openS3,
    connection: () => ({ ...aws, endpoint: serverOf(name).url }),
    wrongCredentials: () => ({ secret_access_key: 'wrong' }),
    nobody: { endpoint: 'http://127.0.0.1:1' },
    ...behaviour(name, { ...s3Error(503, 'SlowDown'), headers: wait }),
  }));
describeFileTarget('Google Cloud Storage', () => ({
  open: openGcs,
  connection: () => ({ ...google, endpoint: serverOf('gcs').url }),
  wrongCredentials: () => ({ private_key: keys() }),
  nobody: { endpoint: 'http://127.0.0.1:1' },
  ...behaviour('gcs', { ...gcsError(429, 'rateLimitExceeded'), headers: wait }),
}));
for (const authentication of ['account_key', 'sas'])
  describeFileTarget(`Azure Blob Storage with ${authentication}`, () => ({
    open: openAzureBlob,
    connection: () => ({ ...azure, authentication, endpoint: serverOf('azure').url }),
    wrongCredentials: () => ({ account_key: 'b3RoZXI=', sas_token: 'sv=2022-11-02&sig=b3RoZXI' }),
    nobody: { endpoint: 'http://127.0.0.1:1' },
    ...behaviour('azure', { ...azureError(503, 'ServerBusy'), headers: { ...wait, 'x-ms-error-code': 'ServerBusy' } }),
  }));

for (const [vendor, name, config, tags] of [
  ['amazon_s3', 's3', aws, []],
  ['google_cloud_storage', 'gcs', google, ['long']],
  ['azure_blob_storage', 'azure', { ...azure, authentication: 'account_key' }, ['long']],
] as const)
  testKills(
    vendor,
    async () => {
      const eventIds = async () =>
        [...serverOf(name).objects].filter(([key]) => key.startsWith('killed/')).flatMap(([, file]) => idsIn(file));
      return {
        vendor,
        config: { ...config, endpoint: serverOf(name).url, format: 'ndjson', compression: 'none', prefix: 'killed/' },
        eventIds,
        exactlyOnce: true,
      };
    },
    { tags: [...tags] },
  );

const OPENERS = { s3: openS3, gcs: openGcs, azure: openAzureBlob };
test.each<[keyof typeof OPENERS, string, Fault, object]>([
  ['s3', '200 with an error in the body', { ...s3Error(200, 'InternalError') }, { kind: 'unavailable', reason: 'http_200: InternalError' }],
  ['s3', 'a request that was too slow', s3Error(400, 'RequestTimeout'), { kind: 'unavailable', reason: 'http_400: RequestTimeout' }],
  [
    's3',
    'two writers at once',
    s3Error(409, 'ConditionalRequestConflict'),
    { kind: 'unavailable', reason: 'http_409: ConditionalRequestConflict' },
  ],
  [
    's3',
    'another region',
    { ...s3Error(301, 'PermanentRedirect'), headers: { 'x-amz-bucket-region': 'us-west-2' } },
    { kind: 'refused', reason: 'http_301: PermanentRedirect (the bucket is in us-west-2)' },
  ],
  ['s3', 'a new bucket', s3Error(307, 'TemporaryRedirect'), { kind: 'unavailable', reason: 'http_307: TemporaryRedirect' }],
  ['s3', 'a wrong session token', s3Error(400, 'InvalidToken'), { kind: 'unavailable', reason: 'http_400: InvalidToken' }],
  ['s3', 'too large', s3Error(400, 'EntityTooLarge'), { kind: 'refused', reason: 'http_400: EntityTooLarge' }],
  ['s3', 'no such bucket', s3Error(404, 'NoSuchBucket'), { kind: 'unavailable', reason: 'http_404: NoSuchBucket' }],
  ['gcs', 'a service that fails', { status: 503, body: '<html>' }, { kind: 'unavailable', reason: 'http_503' }],
  ['gcs', 'no permission', gcsError(403, 'forbidden'), { kind: 'unavailable', reason: 'http_403: forbidden' }],
  ['gcs', 'a bad name', gcsError(400, 'invalid'), { kind: 'refused', reason: 'http_400: invalid' }],
  [
    'azure',
    'a container that is being deleted',
    azureError(409, 'ContainerBeingDeleted'),
    { kind: 'unavailable', reason: 'http_409: ContainerBeingDeleted' },
  ],
  [
    'azure',
    'a malformed key',
    azureError(400, 'InvalidAuthenticationInfo'),
    { kind: 'unavailable', reason: 'http_400: InvalidAuthenticationInfo' },
  ],
  ['azure', 'a wrong digest', azureError(400, 'Md5Mismatch'), { kind: 'refused', reason: 'http_400: Md5Mismatch' }],
])('%s: %s', async (name, _what, fault, verdict) => {
  const connection = { s3: aws, gcs: google, azure: { ...azure, authentication: 'account_key' } }[name];
  const transport = OPENERS[name]({ ...connection, endpoint: serverOf(name).url }, driverOptions());
  serverOf(name).faults.push(fault);
  expect(await transport.send([fileRecord(`faults/${name}/`, Math.random())], { timeout_ms: 20_000 })).toEqual(verdict);
  await transport.close();
});

test('s3: a wrong clock is corrected by the response, and the bucket stands in the host without an endpoint', async () => {
  const options = driverOptions();
  const clock = { ...options.http.clock, now: () => Date.now() - 3_600_000 };
  const transport = openS3({ ...aws, endpoint: serverOf('s3').url }, { ...options, http: { ...options.http, clock } });
  expect(await transport.send([fileRecord('clock/', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
  await transport.close();
  const urls: string[] = [];
  const client = {
    send: async ({ url }: { url: string }) => {
      urls.push(url);
      return { kind: 'reply', reply: { status: 200, headers: {}, body: '' }, duration_ms: 1 } as const;
    },
    close: async () => undefined,
  };
  for (const bucket of ['acme', 'acme.events']) {
    const other = openS3({ ...aws, bucket }, { ...options, http: { ...options.http, client } });
    await other.send([fileRecord('a b/', 1)], { timeout_ms: 20_000 });
    await other.close();
  }
  expect(urls.map((url) => url.replace(/[0-9a-f]{64}/, 'HASH'))).toEqual([
    'https://acme.s3.eu-central-1.amazonaws.com/a%20b/HASH.ndjson',
    'https://s3.eu-central-1.amazonaws.com/acme.events/a%20b/HASH.ndjson',
  ]);
});

test('gcs: an endpoint that is not filled in is Google', async () => {
  const options = driverOptions();
  const urls: string[] = [];
  const client = {
    send: async ({ url }: { url: string }) => {
      urls.push(url);
      return { kind: 'reply', reply: { status: 200, headers: {}, body: '' }, duration_ms: 1 } as const;
    },
    close: async () => undefined,
  };
  const tokens = { get: async () => ({ kind: 'token', token: 't' }) as const, reject: () => undefined };
  // The service hands over an empty text for a field without a value.
  const transport = openGcs({ ...google, endpoint: '' }, { ...options, http: { ...options.http, client, tokens } });
  expect(await transport.send([fileRecord('a/', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
  await transport.close();
  expect(urls).toEqual([`https://storage.googleapis.com/upload/storage/v1/b/${google.bucket}/o?uploadType=multipart&ifGenerationMatch=0`]);
});

test('gcs: an access token that the service rejects is fetched anew', async () => {
  const transport = openGcs({ ...google, endpoint: serverOf('gcs').url }, driverOptions());
  await transport.send([fileRecord('token/', 1)], { timeout_ms: 20_000 });
  serverOf('gcs').faults.push(gcsError(401, 'authError'));
  expect(await transport.send([fileRecord('token/', 2)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
  await transport.close();
});

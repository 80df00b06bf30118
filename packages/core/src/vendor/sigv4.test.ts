import { expect, test } from 'vitest';
import { utf8 } from './bytes.ts';
import { type AwsCredentials, authorization, canonicalPath, signAws } from './sigv4.ts';

// The worked examples of "Signature calculations for the Authorization header" in the Amazon S3 API reference.
const credentials: AwsCredentials = {
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 's3',
};
const now = Date.UTC(2013, 4, 24);
const base = 'https://examplebucket.s3.amazonaws.com';

test.each([
  {
    name: 'GET object with a range',
    request: { method: 'GET', url: `${base}/test.txt`, headers: { Range: 'bytes=0-9' }, body: '' },
    signed: 'host;range;x-amz-content-sha256;x-amz-date',
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'PUT object with a dollar sign in its key',
    request: {
      method: 'PUT',
      url: `${base}/test$file.text`,
      headers: { Date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: 'Welcome to Amazon S3.',
    },
    signed: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    name: 'GET a sub-resource',
    request: { method: 'GET', url: `${base}/?lifecycle`, headers: {}, body: '' },
    signed: 'host;x-amz-content-sha256;x-amz-date',
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    name: 'GET with query parameters',
    request: { method: 'GET', url: `${base}/?max-keys=2&prefix=J`, headers: {}, body: '' },
    signed: 'host;x-amz-content-sha256;x-amz-date',
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
])('AWS example: $name', ({ request, signed, signature }) => {
  const headers = signAws({ ...request, body: utf8(request.body) } as Parameters<typeof signAws>[0], credentials, now);
  expect(headers.Authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signed},Signature=${signature}`,
  );
  expect(headers['x-amz-date']).toBe('20130524T000000Z');
});

test('a percent-encoded path signs like the plain one, and a session token is signed', () => {
  const sign = (url: string) => signAws({ method: 'PUT', url, headers: {}, body: utf8('') }, { ...credentials, session_token: 'tok' }, now);
  expect(sign(`${base}/a%24b`).Authorization).toBe(sign(`${base}/a$b`).Authorization);
  expect(sign(`${base}/a`)).toMatchObject({ 'x-amz-security-token': 'tok' });
  expect(sign(`${base}/a`).Authorization).toContain('x-amz-security-token');
});

const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
// Cases of the test suite that AWS publishes for implementers of Signature Version 4.
test.each([
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
])('AWS test suite: %s', (_name, method, path, signature) => {
  const suite = {
    ...credentials,
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    service: 'service',
  };
  const headers = { 'X-Amz-Date': '20150830T123600Z' };
  expect(
    authorization({ method, url: `https://example.amazonaws.com${path}`, headers }, emptyHash, suite, Date.UTC(2015, 7, 30, 12, 36)),
  ).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,SignedHeaders=host;x-amz-date,Signature=${signature}`,
  );
});

test.each([
  ['s3', '/documents%20and%20settings/', '/documents%20and%20settings/'],
  ['s3', '/a$b%', '/a%24b%25'],
  ['s3express', '/a%20b', '/a%20b'],
  ['execute-api', '/documents%20and%20settings/', '/documents%2520and%2520settings/'],
  ['kinesis', '/a$b', '/a%24b'],
  ['kinesis', '/', '/'],
])('other services than S3 want the path encoded twice: %s %s', (service, path, canonical) => {
  expect(canonicalPath(path, service)).toBe(canonical);
});

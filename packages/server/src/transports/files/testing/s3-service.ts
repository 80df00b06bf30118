/** The part of S3 that an upload uses, by its documentation: AWS Signature Version 4, payload hash, `If-None-Match`, XML errors. */
import { createHmac, hash } from 'node:crypto';
import type { Service, ServiceReply, ServiceRequest } from './object-server.ts';

export interface S3Account {
  access_key_id: string;
  secret_access_key: string;
  region: string;
  bucket: string;
  /** False for a compatible store without conditional writes. */
  conditional?: boolean;
}

export const s3Service =
  (account: S3Account): Service =>
  (request, server) => {
    const refused = checkSignature(request, account);
    if (refused) return refused;
    const [, bucket, ...rest] = request.path.split('/');
    if (bucket !== account.bucket) return s3Error(404, 'NoSuchBucket');
    const key = decodeURIComponent(rest.join('/'));
    if (request.method === 'HEAD') return { status: server.objects.has(key) ? 200 : 404 };
    if (request.method !== 'PUT') return s3Error(405, 'MethodNotAllowed');
    const condition = request.headers['if-none-match'];
    if (condition !== undefined && account.conditional === false) return s3Error(501, 'NotImplemented');
    if (condition === '*')
      return server.create(key, request.body, request.headers['content-type']) ? { status: 200 } : s3Error(412, 'PreconditionFailed');
    server.objects.set(key, request.body);
    return { status: 200 };
  };

export function s3Error(status: number, code: string, more = ''): ServiceReply {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message>${more}<RequestId>1</RequestId></Error>`,
  };
}

function checkSignature({ method, path, headers, query, body }: ServiceRequest, account: S3Account): ServiceReply | undefined {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!given) return s3Error(400, 'AuthorizationHeaderMalformed');
  const [, key = '', day = '', region = '', names = '', signature = ''] = given;
  if (key !== account.access_key_id) return s3Error(403, 'InvalidAccessKeyId');
  if (region !== account.region) return s3Error(400, 'AuthorizationHeaderMalformed', `<Region>${account.region}</Region>`);
  const date = String(headers['x-amz-date']);
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(at - Date.now()) < 900_000))
    return { ...s3Error(403, 'RequestTimeTooSkewed'), headers: { date: new Date().toUTCString() } };
  const payload = String(headers['x-amz-content-sha256']);
  if (payload !== hash('sha256', body)) return s3Error(400, 'XAmzContentSHA256Mismatch');
  const signed = names.split(';');
  for (const needed of ['host', 'x-amz-date', 'x-amz-content-sha256']) if (!signed.includes(needed)) return s3Error(403, 'AccessDenied');
  const sorted = [...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).sort();
  const canonical = [
    method,
    path,
    sorted.join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    payload,
  ];
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', canonical.join('\n'))].join('\n');
  let secret: Buffer | string = `AWS4${account.secret_access_key}`;
  for (const part of [day, region, 's3', 'aws4_request', text]) secret = createHmac('sha256', secret).update(part).digest();
  return Buffer.from(secret).toString('hex') === signature ? undefined : s3Error(403, 'SignatureDoesNotMatch');
}

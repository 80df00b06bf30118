/** The part of Google's token endpoint and of the Cloud Storage JSON API that an upload uses: RS256 assertion, bearer, multipart, MD5. */
import { createPublicKey, hash, randomUUID, verify } from 'node:crypto';
import type { Service, ServiceReply, ServiceRequest } from './object-server.ts';

export interface GcsAccount {
  client_email: string;
  /** PEM. The public key is derived from it. */
  private_key: string;
  bucket: string;
}

export function gcsService(account: GcsAccount): Service {
  /** The key that each token was issued for: deleting it ends them. */
  const tokens = new Map<string, string>();
  return (request, server) => {
    if (request.path === '/token') return issueToken(request, account, tokens);
    if (tokens.get((request.headers.authorization ?? '').replace(/^Bearer /, '')) !== account.private_key)
      return gcsError(401, 'authError');
    const bucket = /^\/upload\/storage\/v1\/b\/([^/]+)\/o$/.exec(request.path)?.[1];
    if (bucket !== account.bucket) return gcsError(404, 'notFound');
    if (request.query.get('uploadType') !== 'multipart') return gcsError(400, 'invalidParameter');
    const parts = readMultipart(request);
    if (!parts) return gcsError(400, 'parseError');
    const { name, md5Hash, contentType } = parts.metadata;
    if (md5Hash !== hash('md5', parts.content, 'base64')) return gcsError(400, 'invalid');
    if (request.query.get('ifGenerationMatch') !== '0') return gcsError(400, 'required');
    return server.create(String(name), parts.content, String(contentType))
      ? { status: 200, body: JSON.stringify({ kind: 'storage#object', name, generation: '1' }) }
      : gcsError(412, 'conditionNotMet');
  };
}

export function gcsError(code: number, reason: string): ServiceReply {
  return {
    status: code,
    body: JSON.stringify({ error: { code, message: reason, errors: [{ domain: 'global', reason, message: reason }] } }),
  };
}

function issueToken({ body }: ServiceRequest, account: GcsAccount, tokens: Map<string, string>): ServiceReply {
  const form = new URLSearchParams(body.toString());
  const invalid = { status: 400, body: JSON.stringify({ error: 'invalid_grant' }) };
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return invalid;
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const key = createPublicKey(account.private_key);
  if (!verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))) return invalid;
  const { iss, scope, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const now = Date.now() / 1000;
  const timely = Number(exp) > now && Number(exp) - Number(iat) <= 3_600 && Math.abs(Number(iat) - now) < 300;
  if (iss !== account.client_email || !timely || !String(scope).includes('devstorage')) return invalid;
  const access_token = `ya29.${randomUUID()}`;
  tokens.set(access_token, account.private_key);
  return { status: 200, body: JSON.stringify({ access_token, expires_in: 3_600, token_type: 'Bearer' }) };
}

function readMultipart({ headers, body }: ServiceRequest): { metadata: Record<string, unknown>; content: Buffer } | undefined {
  const boundary = /^multipart\/related; boundary=(\S+)$/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return undefined;
  const dashes = Buffer.from(`--${boundary}`);
  const second = body.indexOf(dashes, 1);
  const last = body.lastIndexOf(Buffer.from(`\r\n--${boundary}--`));
  const after = (from: number) => body.indexOf('\r\n\r\n', from) + 4;
  if (second < 0 || last < second) return undefined;
  const metadata = JSON.parse(body.subarray(after(0), second).toString()) as Record<string, unknown>;
  return { metadata, content: body.subarray(after(second), last) };
}

/** The part of Azure Blob Storage that an upload uses: SharedKey or SAS, `Content-MD5`, `If-None-Match`, error codes in a header. */
import { createHmac, hash } from 'node:crypto';
import type { Service, ServiceReply, ServiceRequest } from './object-server.ts';

export interface AzureAccount {
  account: string;
  account_key: string;
  sas_token: string;
  container: string;
}

export const azureService =
  (account: AzureAccount): Service =>
  (request, server) => {
    const sas = request.query.get('sig');
    const allowed = sas === null ? isSigned(request, account) : sas === new URLSearchParams(account.sas_token).get('sig');
    if (!allowed) return azureError(403, 'AuthenticationFailed');
    const [, container, ...rest] = request.path.split('/');
    if (container !== account.container) return azureError(404, 'ContainerNotFound');
    const { headers, body } = request;
    if (headers['x-ms-version'] === undefined || headers['x-ms-blob-type'] !== 'BlockBlob') return azureError(400, 'MissingRequiredHeader');
    if (headers['content-md5'] !== hash('md5', body, 'base64')) return azureError(400, 'Md5Mismatch');
    if (headers['if-none-match'] !== '*') return azureError(400, 'InvalidHeaderValue');
    return server.create(decodeURIComponent(rest.join('/')), body, headers['content-type'])
      ? { status: 201 }
      : azureError(409, 'BlobAlreadyExists');
  };

export function azureError(status: number, code: string): ServiceReply {
  return { status, headers: { 'x-ms-error-code': code }, body: `<?xml version="1.0"?><Error><Code>${code}</Code></Error>` };
}

function isSigned({ method, path, query, headers, body }: ServiceRequest, { account, account_key }: AzureAccount): boolean {
  const header = (name: string) => String(headers[name] ?? '');
  const own = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
    .map((name) => `${name}:${header(name)}`);
  const text = [
    method,
    header('content-encoding'),
    header('content-language'),
    body.length === 0 ? '' : String(body.length),
    header('content-md5'),
    header('content-type'),
    '',
    header('if-modified-since'),
    header('if-match'),
    header('if-none-match'),
    header('if-unmodified-since'),
    header('range'),
    ...own,
    `/${account}${path}`,
    ...[...query].map(([name, value]) => `${name.toLowerCase()}:${value}`).sort(),
  ].join('\n');
  const signature = createHmac('sha256', Buffer.from(account_key, 'base64')).update(text).digest('base64');
  return header('authorization') === `SharedKey ${account}:${signature}`;
}

/** Azure signatures: SharedKey for Storage, SAS tokens for Event Hubs and Service Bus. */
import { hmacSha256, toBase64 } from '../hash/hash.ts';
import type { Unsigned } from './auth.ts';
import { fromBase64 } from './bytes.ts';
import type { RequestContext } from './compiled.ts';
import { setHeader } from './header-rules.ts';

type Sign = (request: Unsigned, context: RequestContext) => void;

const STORAGE_VERSION = '2021-12-02';
/** Headers that take part in the signature by position, after the method. Most are empty. */
const SIGNED = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
];

export function azureBlobSigner(account: string, key: string): Sign {
  const secret = fromBase64(key);
  return (request, { now }) => {
    setHeader(request.headers, 'x-ms-date', new Date(now).toUTCString());
    setHeader(request.headers, 'x-ms-version', STORAGE_VERSION);
    const signature = toBase64(hmacSha256(secret, stringToSign(request, account)));
    setHeader(request.headers, 'Authorization', `SharedKey ${account}:${signature}`);
  };
}

export function stringToSign({ method, url: text, headers, body }: Unsigned, account: string): string {
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]));
  // A length of 0 is signed as an empty text.
  if (body.length > 0) given.set('content-length', String(body.length));
  const url = new URL(text);
  const own = [...given].filter(([name]) => name.startsWith('x-ms-')).sort(([a], [b]) => (a < b ? -1 : 1));
  const query = [...url.searchParams].map(([name, value]) => [name.toLowerCase(), value] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    method,
    ...SIGNED.map((name) => given.get(name) ?? ''),
    ...own.map(([name, value]) => `${name}:${value}`),
    `/${account}${url.pathname}`,
    ...query.map(([name, value]) => `${name}:${value}`),
  ].join('\n');
}

const LIFETIME_S = 3_600;

export function serviceBusSigner(resource: string, keyName: string, key: string): Sign {
  let token = '';
  let expires = 0;
  return (request, { now }) => {
    const seconds = Math.floor(now / 1000);
    if (seconds > expires - LIFETIME_S / 10 || seconds < expires - LIFETIME_S) {
      expires = seconds + LIFETIME_S;
      token = serviceBusToken(resource, keyName, key, expires);
    }
    setHeader(request.headers, 'Authorization', token);
  };
}

export function serviceBusToken(resource: string, keyName: string, key: string, expires: number): string {
  const uri = encodeURIComponent(resource.toWellFormed());
  const signature = toBase64(hmacSha256(key, `${uri}\n${expires}`));
  return `SharedAccessSignature sr=${uri}&sig=${encodeURIComponent(signature)}&se=${expires}&skn=${encodeURIComponent(keyName.toWellFormed())}`;
}

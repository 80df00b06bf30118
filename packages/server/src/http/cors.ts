/** CORS headers of the collection endpoints. Without them the browser hides status and body from the page that sent the request. */
const ALLOWED_HEADERS = 'Content-Type, Authorization';
/** Headers that published browser SDKs send. Each is allowed only if the preflight requests it. */
const SDK_HEADERS = [
  'X-Retry-Count',
  'AnonymousId',
  'SentAt',
  'X-Write-Key',
  'X-Requested-With',
  // RudderStack: on requests that are sent again, or found in the browser's storage after a reload.
  'Rsa-Retry-Attempt',
  'Rsa-Since-Last-Attempt',
  'Rsa-Since-First-Attempt',
  'Rsa-Retry-Reason',
  'Rsa-Recovered',
  // Jitsu: with `debug` and with `privacy.ipPolicy`.
  'X-Enable-Debug',
  'X-IP-Policy',
];
/** Allowed characters of an Origin header; any other value is not echoed. */
const ECHOABLE = /^[\x21-\x7e]{1,300}$/;

/** Names and values, alternating. */
export function corsHeaders(origin: string | undefined, methods = 'POST, OPTIONS', allowed = ALLOWED_HEADERS): string[] {
  return [
    'Access-Control-Allow-Origin',
    echoedOrigin(origin),
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    allowed,
    'Access-Control-Allow-Credentials',
    'true',
    'Access-Control-Expose-Headers',
    'Retry-After',
    'Vary',
    'Origin',
  ];
}
function echoedOrigin(origin: string | undefined): string {
  if (origin === undefined) return '*';
  return ECHOABLE.test(origin) ? origin : 'null';
}

/** A preflight carries no key and so identifies no pipeline: every origin is echoed, and the actual request is checked. */
export function preflightHeaders(origin: string | undefined, methods: string, asked: string | undefined): string[] {
  const names = new Set(asked?.toLowerCase().split(/[\s,]+/));
  const also = SDK_HEADERS.filter((name) => names.has(name.toLowerCase()));
  return [...corsHeaders(origin, methods, [ALLOWED_HEADERS, ...also].join(', ')), 'Access-Control-Max-Age', '600'];
}

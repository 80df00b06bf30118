/** Connection-level headers: a configuration that sets one could smuggle a second request. */
const FORBIDDEN = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
  'http2-settings',
]);
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the headers to send, with a default `User-Agent`, or a message why they are not allowed. `Host` must equal the URL's host;
 * signed requests include it.
 */
export function checkedHeaders(headers: Record<string, string>, host: string, userAgent: string): Record<string, string> | string {
  let named = false;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!NAME.test(name)) return `the header name ${JSON.stringify(name.slice(0, 80))} is not valid`;
    if (!VALUE.test(value)) return `the value of the header ${name} has characters that are not allowed`;
    const lower = name.toLowerCase();
    if (FORBIDDEN.has(lower)) return `the header ${name} is not allowed`;
    if (lower === 'host' && value !== host) return 'the header Host is not allowed';
    if (lower === 'user-agent') named = true;
  }
  return named ? headers : { ...headers, 'User-Agent': userAgent };
}

/**
 * Matches the browser origins that a pipeline accepts. An entry is a host or `*.host` with an optional port; without a port it matches any
 * port. Origins are compared exactly as browsers send them (lower case, IDN as punycode), without normalisation: a value that no browser
 * would send matches nothing.
 */
const ORIGIN = /^(https?):\/\/([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;
const REMEMBERED = 1_000;

interface HostRule {
  host: string;
  wildcard: boolean;
  port: string | undefined;
}

export function originMatcher(allowlist: readonly string[], allowLocalhost: boolean): (origin: string) => boolean {
  if (allowlist.length === 0) return () => true;
  const rules = allowlist.map(readEntry).filter((rule) => rule !== undefined);
  const known = new Map<string, boolean>();
  function decide(origin: string): boolean {
    const match = ORIGIN.exec(origin);
    if (!match) return false;
    const [, scheme, host = '', port = scheme === 'https' ? '443' : '80'] = match;
    if (host.includes('..')) return false;
    if (allowLocalhost && isLocalhost(host)) return true;
    return rules.some((rule) => (rule.port === undefined || rule.port === port) && hostFits(rule, host));
  }
  return (origin) => {
    const before = known.get(origin);
    if (before !== undefined) return before;
    const decision = decide(origin);
    // Hostile senders can invent any number of origins, so the cache is bounded.
    if (known.size >= REMEMBERED) known.clear();
    known.set(origin, decision);
    return decision;
  };
}

function hostFits(rule: HostRule, host: string): boolean {
  return rule.wildcard ? host.length > rule.host.length + 1 && host.endsWith(`.${rule.host}`) : host === rule.host;
}

/** Undefined if the entry is not a host: such an entry allows nothing. */
function readEntry(entry: string): HostRule | undefined {
  const text = entry
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '');
  const wildcard = text.startsWith('*.');
  const address = `http://${wildcard ? text.slice(2) : text}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined;
  const port = /:(\d+)$/.exec(text)?.[1];
  return { host: url.hostname, wildcard, port: port === undefined ? undefined : String(Number(port)) };
}

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

import type { CallRules, CallType } from '@firsthand/core/event/validate.ts';

export type RouteKind = 'event' | 'batch' | 'pixel' | 'webhook';
export interface Route {
  kind: RouteKind;
  method: 'POST' | 'GET';
  /** Browser-facing: the connection's address and user agent are the visitor's. */
  browser: boolean;
  rules: CallRules;
  /** Written into the envelope where the body need not name its type. */
  implied: CallType | undefined;
}

const ANY_TYPE: ReadonlySet<string> = new Set(['track', 'page', 'identify', 'group', 'screen', 'alias']);
const anyCall: CallRules = { types: ANY_TYPE, fallback: undefined, pageNameRequired: false };

function call(type: CallType, form: 'short' | 'long' | 'pixel'): Route {
  // `screen` and `alias` are kept as page and identify; a body that says so already is not wrong.
  const also = type === 'screen' ? ['page'] : type === 'alias' ? ['identify'] : [];
  return {
    kind: form === 'pixel' ? 'pixel' : 'event',
    method: form === 'pixel' ? 'GET' : 'POST',
    browser: form !== 'long',
    implied: type,
    rules: {
      types: new Set([type, ...also]),
      fallback: form === 'short' ? undefined : type,
      pageNameRequired: form === 'short' && type === 'page',
    },
  };
}
const batch: Route = { kind: 'batch', method: 'POST', browser: false, implied: undefined, rules: anyCall };

export const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/v1/t', call('track', 'short')],
  ['/v1/p', call('page', 'short')],
  ['/v1/i', call('identify', 'short')],
  ['/v1/g', call('group', 'short')],
  ['/v1/track', call('track', 'long')],
  ['/v1/page', call('page', 'long')],
  ['/v1/identify', call('identify', 'long')],
  ['/v1/group', call('group', 'long')],
  ['/v1/screen', call('screen', 'long')],
  ['/v1/alias', call('alias', 'long')],
  ['/v1/s', call('screen', 'long')],
  ['/v1/a', call('alias', 'long')],
  ['/v1/events', { kind: 'event', method: 'POST', browser: false, implied: undefined, rules: anyCall }],
  ['/v1/batch', batch],
  ['/v1/b', batch],
  // What Segment's libraries for Ruby, Java and .NET call.
  ['/v1/import', batch],
  ['/v1/pixel/t', call('track', 'pixel')],
  ['/v1/pixel/p', call('page', 'pixel')],
  ['/v1/webhook', { kind: 'webhook', method: 'POST', browser: false, implied: undefined, rules: anyCall }],
]);

/** The route of an address, its query left aside. The library for Java ends its address with a slash; no other address may. */
export function findRoute(url: string): Route | undefined {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  return ROUTES.get(path) ?? (path === '/v1/import/' ? batch : undefined);
}

import type { CallRules, CallType } from '@firsthand/core/event/validate.ts';
import { ANY_CALL } from '../../intake/call-rules.ts';

export interface Route {
  kind: 'event' | 'batch' | 'pixel' | 'webhook';
  method: 'POST' | 'GET';
  /** Browser-facing: the connection's address and user agent are the visitor's. */
  browser: boolean;
  rules: CallRules;
  /** The type of events whose body names none. */
  impliedType: CallType | undefined;
}

function call(type: CallType, form: 'short' | 'long' | 'pixel'): Route {
  // `screen` and `alias` are accepted as page and identify, so a body that names that type is valid too.
  const also = type === 'screen' ? ['page'] : type === 'alias' ? ['identify'] : [];
  return {
    kind: form === 'pixel' ? 'pixel' : 'event',
    method: form === 'pixel' ? 'GET' : 'POST',
    browser: form !== 'long',
    impliedType: type,
    rules: {
      types: new Set([type, ...also]),
      fallback: form === 'short' ? undefined : type,
      pageNameRequired: form === 'short' && type === 'page',
    },
  };
}
const batch: Route = { kind: 'batch', method: 'POST', browser: false, impliedType: undefined, rules: ANY_CALL };

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
  ['/v1/events', { kind: 'event', method: 'POST', browser: false, impliedType: undefined, rules: ANY_CALL }],
  ['/v1/batch', batch],
  ['/v1/b', batch],
  // Segment's libraries for Ruby, Java and .NET.
  ['/v1/import', batch],
  ['/v1/pixel/t', call('track', 'pixel')],
  ['/v1/pixel/p', call('page', 'pixel')],
  ['/v1/webhook', { kind: 'webhook', method: 'POST', browser: false, impliedType: undefined, rules: ANY_CALL }],
]);

export function findRoute(url: string): Route | undefined {
  const path = pathOf(url);
  // Segment's library for Java ends its address with a slash; no other address may.
  return ROUTES.get(path) ?? (path === '/v1/import/' ? batch : undefined);
}

/** Every path of the collection side, known or not. */
export function isCollectionPath(url: string): boolean {
  return /^\/v1\/(?!admin(?:\/|$))/.test(pathOf(url));
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

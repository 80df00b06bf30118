import type { CallRules, CallType } from '@firsthand/core/event/validate.ts';
import { ANY_CALL } from '../../intake/call-rules.ts';

export interface Route {
  kind: 'event' | 'batch' | 'pixel' | 'webhook' | 'settings';
  method: 'POST' | 'GET';
  /** Browser-facing: the connection's address and user agent are the visitor's. */
  browser: boolean;
  rules: CallRules;
  /** The type of events whose body names none. */
  impliedType: CallType | undefined;
}

/**
 * `short`: the paths of our own collector, which are strict. `long`: those of Segment-compatible clients. `browser`: the same,
 * called by browsers only.
 */
function call(type: CallType, form: 'short' | 'long' | 'browser' | 'pixel'): Route {
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
      compatible: form === 'long' || form === 'browser',
    },
  };
}
const oneEvent: Route = { kind: 'event', method: 'POST', browser: false, impliedType: undefined, rules: ANY_CALL };
const batch: Route = { kind: 'batch', method: 'POST', browser: false, impliedType: undefined, rules: ANY_CALL };

const settings: Route = { kind: 'settings', method: 'GET', browser: true, impliedType: undefined, rules: ANY_CALL };

const JITSU_TYPES: readonly CallType[] = ['track', 'page', 'identify', 'group', 'screen', 'alias'];
export const SEGMENT_SETTINGS = '/v1/projects/{key}/settings';
const SEGMENT_SETTINGS_PATH = /^\/v1\/projects\/([^/]+)\/settings$/;

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
  ['/v1/events', oneEvent],
  ['/v1/batch', batch],
  ['/v1/b', batch],
  // Segment's libraries for Ruby, Java and .NET.
  ['/v1/import', batch],
  // RudderStack's browser SDK, while a page is left.
  ['/beacon/v1/batch', batch],
  // Jitsu: browsers, then servers. On `event` the body names the type.
  ...JITSU_TYPES.map((type): [string, Route] => [`/api/s/${type}`, call(type, 'browser')]),
  ['/api/s/event', { ...oneEvent, browser: true }],
  ...JITSU_TYPES.map((type): [string, Route] => [`/api/s/s2s/${type}`, call(type, 'long')]),
  ['/api/s/s2s/event', oneEvent],
  ['/api/s/s2s/batch', batch],
  // What browser SDKs ask for before they start: RudderStack's, then Segment's.
  ['/sourceConfig', settings],
  [SEGMENT_SETTINGS, settings],
  ['/v1/pixel/t', call('track', 'pixel')],
  ['/v1/pixel/p', call('page', 'pixel')],
  ['/v1/webhook', { kind: 'webhook', method: 'POST', browser: false, impliedType: undefined, rules: ANY_CALL }],
]);

export function findRoute(url: string): Route | undefined {
  const path = pathOf(url);
  const route = ROUTES.get(path);
  if (route !== undefined) return route;
  // Two clients end their addresses with a slash, Segment's library for Java and RudderStack's browser SDK; no other address may.
  if (path === '/v1/import/') return batch;
  if (path === '/sourceConfig/') return settings;
  return SEGMENT_SETTINGS_PATH.test(path) ? settings : undefined;
}

/** The pipeline key in the path of Segment's settings. */
export function keyInPath(url: string): string | undefined {
  return SEGMENT_SETTINGS_PATH.exec(pathOf(url))?.[1];
}

const COLLECTION_PATH = /^\/(?:v1\/(?!(?:admin|oauth)(?:\/|$))|api\/s\/|beacon\/|sourceConfig\/?$)/;
/** Every path of the collection side, known or not. */
export function isCollectionPath(url: string): boolean {
  return COLLECTION_PATH.test(pathOf(url));
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

import { ApiError } from '../../http/errors.ts';
import { scopeRefusals } from './auth/pipeline-scope.ts';
import type { AdminApp, RouteEntry } from './deps.ts';

/** Records every route at registration. A route without a role or documentation fails the start. */
export function collectRoutes(app: AdminApp): void {
  const table: RouteEntry[] = [];
  app.decorate('routeTable', table);
  app.addHook('onRoute', ({ method, url, config = {}, schema = {} }) => {
    for (const one of [method].flat()) {
      if (one === 'HEAD') continue;
      const { role } = config;
      if (role === undefined) throw new Error(`${one} ${url} names no role.`);
      if (config.undocumented !== true && (schema.summary === undefined || schema.tags === undefined || schema.response === undefined))
        throw new Error(`${one} ${url} needs a summary, tags and the schemas of its answers.`);
      const errors = [...(config.errors ?? []), ...(role === 'public' ? [] : scopeRefusals(one, url))];
      table.push({ method: one, url, role, config: { ...config, errors }, schema });
    }
  });
}

/**
 * A path that a literal route serves (`/users/me`) is not an id of its parameterised sibling (`/users/:id`): a method that only the sibling
 * has gets 405 with the literal route's methods. Call before authentication is added: the sibling's role and body have no say.
 */
export function rejectSiblingMethods(app: AdminApp): void {
  app.addHook('onRequest', async ({ method, url, routeOptions }) => {
    if (routeOptions.url?.includes(':') !== true) return;
    const methods = allowedMethods(app.routeTable, url);
    if (methods.length > 0 && !methods.includes(method)) throw methodNotAllowed(methods);
  });
}

export function methodNotAllowed(methods: readonly string[]): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', { headers: { allow: methods.join(', ') } });
}

/** The methods of the most specific route for this URL, where a literal segment beats a parameter. Empty if there is no such path. */
export function allowedMethods(table: readonly RouteEntry[], url: string): string[] {
  const [pathname = ''] = url.split('?', 1);
  const path = pathname.split('/');
  let best = '';
  let methods = new Set<string>();
  for (const route of table) {
    const shape = shapeOf(route.url.split('/'), path);
    if (shape === undefined || shape < best) continue;
    if (shape > best) methods = new Set();
    best = shape;
    methods.add(route.method);
    if (route.method === 'GET') methods.add('HEAD');
  }
  return [...methods].sort();
}

/** One digit per segment, 1 for a literal and 0 for a parameter, so that the greater text is the more specific route. */
function shapeOf(pattern: readonly string[], path: readonly string[]): string | undefined {
  if (pattern.length !== path.length) return undefined;
  let shape = '';
  for (const [at, part] of pattern.entries()) {
    if (part === path[at]) shape += '1';
    else if (part.startsWith(':') && path[at] !== '') shape += '0';
    else return undefined;
  }
  return shape;
}

import type { AdminApp, RouteEntry } from './context.ts';

/** Notes every route as it is registered; one that does not say who may call it, or what it is, stops the start. */
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
      table.push({ method: one, url, role, config, schema });
    }
  });
}

/** What the path of this URL takes: empty where there is no such path. */
export function allowedMethods(table: readonly RouteEntry[], url: string): string[] {
  const path = url.split('?', 1)[0]!.split('/');
  const methods = new Set<string>();
  for (const route of table) {
    const pattern = route.url.split('/');
    if (pattern.length === path.length && pattern.every((part, at) => (part.startsWith(':') ? path[at] !== '' : part === path[at]))) {
      methods.add(route.method);
      if (route.method === 'GET') methods.add('HEAD');
    }
  }
  return [...methods].sort();
}

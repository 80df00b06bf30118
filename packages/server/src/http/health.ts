/** `/healthz`, `/readyz` and `/metrics`: served on every listener, whatever roles the process runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import type { Role } from '../config.ts';

export interface Vitals {
  roles: ReadonlySet<Role>;
  logAvailable(): boolean;
  databaseAvailable(): boolean;
  snapshotLoaded(): boolean;
  stopping(): boolean;
}

/** Ready means that every role of this process can work. Roles that work from the snapshot are only degraded by a lost database. */
export function readiness(vitals: Vitals): { status: 200 | 503; body: { status: string; degraded: string[]; roles: string[] } } {
  const degraded = [
    ...(vitals.databaseAvailable() ? [] : ['database']),
    ...(vitals.logAvailable() ? [] : ['log']),
    ...(vitals.snapshotLoaded() ? [] : ['snapshot']),
  ];
  const working = [...vitals.roles].filter((role) => role !== 'admin');
  const eventsCannotFlow = working.length > 0 && (!vitals.logAvailable() || !vitals.snapshotLoaded());
  const onlyAdminWithoutDatabase = working.length === 0 && !vitals.databaseAvailable();
  const ready = !vitals.stopping() && !eventsCannotFlow && !onlyAdminWithoutDatabase;
  return {
    status: ready ? 200 : 503,
    body: {
      status: vitals.stopping() ? 'stopping' : ready ? (degraded.length > 0 ? 'degraded' : 'ready') : 'unavailable',
      degraded,
      roles: [...vitals.roles],
    },
  };
}

export function healthHandler(vitals: Vitals, registry: Registry): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    const path = (req.url ?? '').split('?', 1)[0];
    if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return false;
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      json(res, 405, { error: { code: 'METHOD_NOT_ALLOWED', message: 'This path does not take that method.' } }, { allow: 'GET, HEAD' });
    } else if (path === '/healthz') json(res, 200, { status: 'alive' });
    else if (path === '/readyz') {
      const { status, body } = readiness(vitals);
      json(res, status, body);
    } else
      registry.metrics().then(
        (text) => res.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => json(res, 500, { error: { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side.' } }),
      );
    return true;
  };
}

function json(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers }).end(JSON.stringify(body));
}

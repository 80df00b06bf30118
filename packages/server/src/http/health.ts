/** `/healthz`, `/readyz` and `/metrics`: served on every listener, whatever roles the process runs. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import type { Role } from '../config.ts';
import type { MetricFamily, ReadMetrics } from '../runtime/metric-families.ts';
import { turns } from '../runtime/turns.ts';
import { ApiError, apiErrorBody } from './errors.ts';

export interface Vitals {
  roles: ReadonlySet<Role>;
  logAvailable(): boolean;
  databaseAvailable(): boolean;
  snapshotLoaded(): boolean;
  draining(): boolean;
}
export interface Check {
  ok: boolean;
  reason?: string;
}
export interface Readiness {
  status: 'ready' | 'starting' | 'draining' | 'unavailable';
  checks: { store: Check; log: Check; snapshot: Check };
  /** Only on a ready process that works without its database. */
  degraded?: ['database'];
  roles: Role[];
}

/** Ready means that every role of this process can work. Roles that work from the snapshot continue without the database. */
export function readiness(vitals: Vitals): { status: 200 | 503; body: Readiness } {
  const checks = {
    store: check(
      vitals.databaseAvailable(),
      vitals.snapshotLoaded()
        ? 'The database does not answer. Events are accepted with the last known configuration.'
        : 'The database has not answered yet.',
    ),
    log: check(vitals.logAvailable(), 'The event log cannot store events.'),
    snapshot: check(vitals.snapshotLoaded(), 'The configuration is not loaded yet.'),
  };
  const handlesEvents = [...vitals.roles].some((role) => role !== 'admin');
  const working = handlesEvents ? checks.log.ok && checks.snapshot.ok : checks.store.ok;
  const status = vitals.draining() ? 'draining' : working ? 'ready' : checks.snapshot.ok ? 'unavailable' : 'starting';
  const degraded: Pick<Readiness, 'degraded'> = status === 'ready' && !checks.store.ok ? { degraded: ['database'] } : {};
  return { status: status === 'ready' ? 200 : 503, body: { status, ...degraded, checks, roles: [...vitals.roles] } };
}
function check(ok: boolean, reason: string): Check {
  return ok ? { ok } : { ok, reason };
}

export interface MetricsAccess {
  read: ReadMetrics;
  /** Whether this listener serves `/metrics`. */
  served: boolean;
  /** A scraper sends it as `Authorization: Bearer`. Undefined: no token needed. */
  token: string | undefined;
}
type Handler = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Returns whether it takes the request. */
export function healthHandler(vitals: Vitals, { read, served, token }: MetricsAccess): Handler {
  const paths = served ? ['/healthz', '/readyz', '/metrics'] : ['/healthz', '/readyz'];
  return (req, res) => {
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    if (!paths.includes(path)) return false;
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      fail(res, new ApiError('METHOD_NOT_ALLOWED', { headers: { allow: 'GET, HEAD' } }));
    } else if (path === '/healthz') json(res, 200, { status: 'alive' });
    else if (path === '/readyz') {
      const { status, body } = readiness(vitals);
      json(res, status, body);
    } else if (token !== undefined && !isSame(/^bearer (.*)$/i.exec(req.headers.authorization ?? '')?.[1] ?? '', token)) {
      const message = 'Metrics need the header Authorization: Bearer with the value of METRICS_TOKEN.';
      fail(res, new ApiError('INVALID_TOKEN', { message }));
    } else
      read().then(
        // What was begun cannot become an error: the reader sees it cut.
        (families) => sendMetrics(res, families).catch(() => res.destroy()),
        () => fail(res, new ApiError('UNAVAILABLE', { message: 'The metrics cannot be read now.' })),
      );
    return true;
  };
}

/** About so many characters are written at once. One text of thousands of integrations held the event loop for 35 ms when it was sent. */
const CHUNK = 65_536;

async function sendMetrics(res: ServerResponse, families: readonly MetricFamily[]): Promise<void> {
  res.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE });
  for await (const chunk of metricsText(families)) res.write(chunk);
  res.end();
}

/** In the format of Prometheus, with turns of the loop in between: some metrics have a line for each of thousands of integrations. */
export async function* metricsText(families: readonly MetricFamily[]): AsyncGenerator<string> {
  let chunk = '';
  for (const [i, { name, help, type, values }] of families.entries()) {
    chunk += `${i === 0 ? '' : '\n'}# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
    for (const { metricName, labels, value } of values) {
      await turns.bulk();
      const named = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text)).replaceAll('"', '\\"')}"`);
      chunk += `${metricName ?? name}${named.length === 0 ? '' : `{${named.join(',')}}`} ${numberText(value)}\n`;
      if (chunk.length < CHUNK) continue;
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}
const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
}

/** In constant time, whatever the lengths. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}

function fail(res: ServerResponse, error: ApiError): void {
  json(res, error.status, apiErrorBody(error), error.headers);
}
function json(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers }).end(JSON.stringify(body));
}

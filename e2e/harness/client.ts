/** A signed-in user of the management API, and a sender of events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { OWNER, type Service } from './service.ts';

export interface Reply<T = Record<string, never>> {
  status: number;
  headers: Headers;
  body: T;
}
// Answers are read as a stranger would read them: by field name, without a schema in between.
export type Loose = ReturnType<typeof JSON.parse>;

export interface Client {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<Loose>>;
  get(path: string): Promise<Loose>;
  post(path: string, body?: unknown): Promise<Loose>;
  put(path: string, body?: unknown): Promise<Loose>;
  delete(path: string): Promise<Reply<Loose>>;
  token: string;
}

export async function signIn(service: Pick<Service, 'url'>, credentials: { email: string; password: string } = OWNER): Promise<Client> {
  const login = await fetch(`${service.url}/v1/admin/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  if (login.status !== 200) throw new Error(`login answered ${login.status}: ${await login.text()}`);
  const { access_token } = (await login.json()) as { access_token: string };
  return clientOf(service, access_token);
}

export function clientOf(service: Pick<Service, 'url'>, token: string): Client {
  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply<Loose>> {
    const response = await fetch(`${service.url}/v1/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, body: (json && text !== '' ? JSON.parse(text) : text) as Loose };
  }
  async function ok(method: string, path: string, body?: unknown): Promise<Loose> {
    const reply = await call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  }
  return {
    token,
    call,
    get: (path) => ok('GET', path),
    post: (path, body) => ok('POST', path, body),
    put: (path, body) => ok('PUT', path, body),
    delete: (path) => call('DELETE', path),
  };
}

export async function send(
  service: Pick<Service, 'url'>,
  key: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply<Loose>> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? '' : JSON.parse(text)) as Loose };
}

/** Waits until `probe` gives something true, and returns it. By default the bound only ends what hangs. */
export async function until<T>(what: string, probe: () => T | Promise<T>, timeoutMs = 60_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    const value = await probe();
    if (value) return value as NonNullable<T>;
    last = value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what} (last: ${JSON.stringify(last)})`);
    await sleep(20);
  }
}

/** A pipeline with a webhook integration to `url`. */
export async function pipelineTo(
  client: Client,
  url: string,
  options: { pipeline?: Record<string, unknown>; config?: Record<string, unknown>; integration?: Record<string, unknown> } = {},
): Promise<{ pipeline: Loose; integration: Loose; key: string }> {
  const pipeline = await client.post('/pipelines', { name: 'Shop', ...options.pipeline });
  const integration = await client.post('/integrations', {
    source_id: pipeline.id,
    vendor: 'webhook',
    name: 'Receiver',
    enabled: true,
    config: { url, rate_limit_rps: 100_000, rate_limit_burst: 100_000, ...options.config },
    ...options.integration,
  });
  return { pipeline, integration, key: pipeline.pipeline_key };
}

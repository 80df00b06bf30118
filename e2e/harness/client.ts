/** A signed-in user of the management API, and a sender of events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, type ApiErrorBody, answered, createApiClient } from '@firsthand/console/api-client.ts';
import type { Address, Answer, Body, Loose } from './api-types.ts';
import { OWNER, type Service } from './service.ts';

export interface Reply<T = Record<string, never>> {
  status: number;
  headers: Headers;
  body: T;
}
export type { Loose };

export interface Client {
  /** Typed by the API's OpenAPI document. Throws unless the request succeeds. */
  get<P extends string>(path: Address<'get', P>): Promise<Answer<'get', P>>;
  post<P extends string>(path: Address<'post', P>, ...body: BodyOf<'post', P>): Promise<Answer<'post', P>>;
  put<P extends string>(path: Address<'put', P>, ...body: BodyOf<'put', P>): Promise<Answer<'put', P>>;
  /** Sends any request, valid or not, and returns any response. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<Loose>>;
  delete(path: string): Promise<Reply<Loose>>;
  /** The console's client. */
  api: ApiClient;
  token: string;
}
type BodyOf<M extends 'post' | 'put', P extends string> = Body<M, P> extends undefined ? [] : [body: Body<M, P>];

export async function signIn(service: Pick<Service, 'url'>, credentials: { email: string; password: string } = OWNER): Promise<Client> {
  const { access_token } = await answered(createApiClient({ baseUrl: service.url }).POST('/v1/admin/auth/login', { body: credentials }));
  return clientOf(service, access_token);
}

export function clientOf(service: Pick<Service, 'url'>, token: string): Client {
  const api = createApiClient({ baseUrl: service.url, accessToken: () => token });
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
  // The addresses are complete: the compiler has already matched them against the paths.
  const request = api.request as unknown as (
    method: string,
    path: string,
    init: { body?: unknown },
  ) => Promise<{ data?: Loose; error?: ApiErrorBody; response: Response }>;
  async function ok(method: 'get' | 'post' | 'put', path: string, body?: unknown): Promise<Loose> {
    const { data, error, response } = await request(method, `/v1/admin${path}`, body === undefined ? {} : { body });
    if (error !== undefined || !response.ok)
      throw new Error(`${method.toUpperCase()} ${path} answered ${response.status}: ${JSON.stringify(error)}`);
    return data;
  }
  return {
    token,
    api,
    call,
    get: (path) => ok('get', path),
    post: (path, ...[body]) => ok('post', path, body),
    put: (path, ...[body]) => ok('put', path, body),
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

type True<T> = Exclude<T, false | 0 | '' | null | undefined>;
/** Waits until `probe` returns a truthy value, and returns it. The default timeout is long: it only ends hung tests. */
export async function until<T>(what: string, probe: () => T | Promise<T>, timeoutMs = 120_000): Promise<True<T>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  // Seldom after a while: many probes are requests to the service under test.
  for (let pause = 10; ; pause = Math.min(100, pause * 1.3)) {
    const value = await probe();
    if (value) return value as True<T>;
    last = value;
    if (performance.now() > deadline)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what} (last: ${JSON.stringify(last)})`);
    await sleep(pause);
  }
}

/** A pipeline with a webhook integration to `url`. */
export async function pipelineTo(
  client: Client,
  url: string,
  options: {
    pipeline?: Partial<Body<'post', '/pipelines'>>;
    config?: Record<string, unknown>;
    integration?: Partial<Body<'post', '/integrations'>>;
  } = {},
): Promise<{ pipeline: Answer<'post', '/pipelines'>; integration: Answer<'post', '/integrations'>; key: string }> {
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

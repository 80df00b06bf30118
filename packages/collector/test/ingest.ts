/** A small collection server for the browser tests: follows the contract, records everything, and fails on request. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SentEvent {
  type: string;
  messageId: string;
  anonymousId: string;
  userId?: string;
  event?: string;
  name?: string;
  groupId?: string;
  timestamp: string;
  properties?: Record<string, unknown>;
  traits?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look deep into whatever the page sent
  context: Record<string, any>;
}
export interface Recorded {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  events: SentEvent[];
  status: number;
  at: number;
}
/** `hang` never responds. */
export type Behaviour = { status: number; headers?: Record<string, string> } | 'hang';

export class Ingest {
  readonly requests: Recorded[] = [];
  preflights = 0;
  files = new Map<string, string>();
  behave: (request: Recorded, nth: number) => Behaviour = () => ({ status: 200 });
  /** The registrable domain that pages and this server share, if any. */
  cookieDomain: string | undefined;
  setsCookies = true;
  allowedHeaders = 'Content-Type, Authorization';
  #server: Server | undefined;
  #answersFrom: Promise<void> | undefined;

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.#handle(server, request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return this;
  }
  get port(): number {
    return (this.#server!.address() as AddressInfo).port;
  }
  async stop(): Promise<void> {
    const server = this.#server!;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  /** On another port, so that late requests of the previous test fail. */
  async reset(): Promise<void> {
    await this.stop();
    await this.start();
    this.requests.length = 0;
    this.preflights = 0;
    this.behave = () => ({ status: 200 });
    this.setsCookies = true;
    this.cookieDomain = undefined;
    this.#answersFrom = undefined;
  }
  /** Records requests, but responds only after the returned function was called. */
  holdAnswers(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answersFrom = promise;
    return resolve;
  }
  /** Events of requests answered 200. */
  get accepted(): SentEvent[] {
    return this.requests.filter((one) => one.status === 200).flatMap((one) => one.events);
  }
  /** The timeout only ends a hung test. */
  async waitFor(fits: (events: SentEvent[]) => boolean, what = 'events'): Promise<SentEvent[]> {
    const until = performance.now() + 90_000;
    while (!fits(this.accepted)) {
      if (performance.now() > until) {
        const seen = this.requests.map((one) => `${one.path} ${one.status} ${one.events.map((e) => e.event ?? e.type)}`);
        throw new Error(`timed out waiting for ${what}; saw ${JSON.stringify(seen.slice(0, 20))}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this.accepted;
  }

  async #handle(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0]!;
    const file = this.files.get(path);
    if (request.method === 'GET' && file !== undefined) {
      response.writeHead(200, { 'Content-Type': 'application/javascript', 'Access-Control-Allow-Origin': '*' }).end(file);
      return;
    }
    const origin = request.headers.origin;
    const cors: Record<string, string> = {
      'Access-Control-Allow-Methods': 'POST, OPTIONS',
      'Access-Control-Allow-Headers': this.allowedHeaders,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': 'Retry-After',
      Vary: 'Origin',
    };
    if (origin) cors['Access-Control-Allow-Origin'] = origin;
    if (request.method === 'OPTIONS') {
      this.preflights++;
      response.writeHead(204, cors).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (server !== this.#server) return;
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>;
    const events = (path === '/v1/batch' ? body.batch : path.startsWith('/v1/') ? [body] : []) as SentEvent[];
    const recorded: Recorded = { path, headers: request.headers, body, events, status: 0, at: Date.now() };
    this.requests.push(recorded);
    const answer = this.behave(recorded, this.requests.length);
    if (answer === 'hang') return;
    await this.#answersFrom;
    recorded.status = answer.status;
    // Like the service.
    const id = (body.cookieId as string | undefined) ?? events.at(-1)?.anonymousId;
    const has = /(?:^|; )_df_id=([^;]*)/.exec(request.headers.cookie ?? '')?.[1];
    const cookie: Record<string, string> = {};
    if (answer.status === 200 && this.setsCookies && id && has !== id) {
      const domain = this.cookieDomain ? `; Domain=${this.cookieDomain}` : '';
      cookie['Set-Cookie'] = `_df_id=${id}; Path=/; Max-Age=34560000; SameSite=Lax${domain}`;
    }
    response.writeHead(answer.status, { 'Content-Type': 'application/json', ...cors, ...cookie, ...answer.headers });
    response.end(answer.status === 200 ? '{"success":true}' : '{"error":"internal_error","message":"as asked"}');
  }
}

/** A cloud service at a local address that can be frozen, killed and started again like a real server. What it stored survives. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestServer } from '../../../../test/servers/index.ts';

export interface CloudReply {
  status: number;
  /** Objects are sent as JSON. */
  body: unknown;
  headers?: Record<string, string>;
}
export interface CloudMessage {
  event_id: string;
  /** The event as it was sent. */
  event: { properties?: unknown };
  /** What keeps order: a partition key or message group. */
  key?: string;
  /** A repeat within the window is accepted and not stored. */
  deduplication_id?: string;
}
/** One entry of a request: what is stored if the service accepts it. */
export interface CloudEntry extends CloudMessage {
  target: string;
}
export interface CloudService {
  /** Credentials that the service accepts; the tests rotate them. */
  credentials: Record<string, string>;
  /** The service's reply to a request that it does not authenticate. */
  rejects(req: IncomingMessage, body: Buffer): CloudReply | undefined;
  /** The entries of a request, or the reply to one that is not valid, such as one above the size limit. */
  read(req: IncomingMessage, body: Buffer): CloudEntry[] | CloudReply;
  /** The reply when everything is stored. */
  stored(entries: CloudEntry[]): CloudReply;
  /** The reply when the entries at these places are not stored. Absent where a request is stored whole or not at all. */
  partly?(entries: CloudEntry[], failed: readonly number[]): CloudReply;
  /** How the service documents throttling of a request. */
  throttled: CloudReply;
}
/** What happens to the next request: throttled; some entries fail; cut before it is stored; the reply lost after it. */
export type CloudFault = 'throttle' | 'partial' | 'cut' | 'lost';

export class CloudServer implements TestServer {
  readonly service: CloudService;
  port = 0;
  /** Requests with right credentials. */
  requests = 0;
  /** Most connections that were open at once. */
  mostConnections = 0;
  #connections = 0;
  #server: Server | undefined;
  readonly #stored = new Map<string, CloudMessage[]>();
  readonly #known = new Set<string>();
  #faults: CloudFault[] = [];
  #paused: { resumed: Promise<void>; resume: () => void } | undefined;

  static async start(service: CloudService): Promise<CloudServer> {
    const server = new CloudServer(service);
    await server.restart();
    return server;
  }
  private constructor(service: CloudService) {
    this.service = service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }
  get pid(): number | undefined {
    return undefined;
  }
  in(target: string): CloudMessage[] {
    return this.#stored.get(target) ?? [];
  }
  failNext(...faults: CloudFault[]): void {
    this.#faults = faults;
  }

  pause(): void {
    const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
    this.#paused = { resumed, resume };
  }
  resume(): void {
    this.#paused?.resume();
    this.#paused = undefined;
  }
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
  stop(): Promise<void> {
    this.resume();
    return this.kill();
  }
  async restart(): Promise<void> {
    await this.kill();
    const server = createServer((req, res) => void this.#serve(req, res));
    server.on('connection', (socket) => {
      this.mostConnections = Math.max(this.mostConnections, ++this.#connections);
      socket.once('close', () => this.#connections--);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return; // the client went away
    }
    await this.#paused?.resumed;
    if (res.destroyed) return;
    const reply = this.#reply(req, Buffer.concat(chunks));
    if (reply === undefined) {
      req.socket.destroy();
      return;
    }
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
    res.writeHead(reply.status, { 'content-type': typeof reply.body === 'string' ? 'text/xml' : 'application/json', ...reply.headers });
    res.end(text);
  }
  /** Undefined: the connection breaks. */
  #reply(req: IncomingMessage, body: Buffer): CloudReply | undefined {
    const { service } = this;
    const rejected = service.rejects(req, body);
    if (rejected) return rejected;
    this.requests++;
    const fault = this.#faults.shift();
    if (fault === 'throttle') return service.throttled;
    if (fault === 'cut') return undefined;
    const entries = service.read(req, body);
    if (!Array.isArray(entries)) return entries;
    if (fault === 'partial' && service.partly) {
      const failed = entries.flatMap((_, index) => (index % 2 === 1 ? [index] : []));
      this.#store(entries.filter((_, index) => index % 2 === 0));
      return service.partly(entries, failed);
    }
    this.#store(entries);
    return fault === 'lost' ? undefined : service.stored(entries);
  }
  #store(entries: readonly CloudEntry[]): void {
    for (const { target, ...message } of entries) {
      const known = message.deduplication_id === undefined ? undefined : `${target} ${message.deduplication_id}`;
      if (known !== undefined && this.#known.has(known)) continue;
      if (known !== undefined) this.#known.add(known);
      const held = this.#stored.get(target);
      if (held) held.push(message);
      else this.#stored.set(target, [message]);
    }
  }
}

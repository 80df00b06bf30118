/**
 * A local object store for tests. It checks what the real service checks (signature, digest, condition), keeps whole objects only, and
 * fails in the ways that the service's documentation names.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServiceRequest {
  method: string;
  /** As sent, still percent-encoded. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
export interface ServiceReply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}
/** What the next write meets. `cut`: the connection breaks before the object is stored. `lost`: after that, without a response. */
export type Fault = 'cut' | 'lost' | ServiceReply;

/** The protocol of one service: reads a request, stores through `server`, and answers. */
export type Service = (request: ServiceRequest, server: ObjectServer) => ServiceReply;

export class ObjectServer {
  readonly objects = new Map<string, Buffer>();
  readonly contentTypes = new Map<string, string>();
  readonly requests: Pick<ServiceRequest, 'method' | 'path' | 'headers'>[] = [];
  readonly faults: Fault[] = [];
  readonly #service: Service;
  #server: Server;
  #port = 0;

  private constructor(service: Service) {
    this.#service = service;
    this.#server = this.#listen();
  }
  static async start(service: Service): Promise<ObjectServer> {
    const server = new ObjectServer(service);
    await server.resume();
    return server;
  }
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
  get port(): number {
    return this.#port;
  }

  /** Create-only: false if the key exists. */
  create(key: string, bytes: Buffer, contentType = ''): boolean {
    if (this.objects.has(key)) return false;
    this.objects.set(key, bytes);
    this.contentTypes.set(key, contentType);
    return true;
  }
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
  /** Listens again on the same port, with the same objects. */
  async resume(): Promise<void> {
    if (this.#port !== 0) this.#server = this.#listen();
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #listen(): Server {
    return createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('error', () => undefined);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#answer(request, response, Buffer.concat(chunks)));
    });
  }
  #answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { method = '', headers, url = '/' } = request;
    const [path = '', search = ''] = url.split('?', 2);
    this.requests.push({ method, path, headers });
    const writes = method === 'PUT' || path.startsWith('/upload/');
    const fault = writes ? this.faults.shift() : undefined;
    if (fault === 'cut') return void request.socket.destroy();
    const reply =
      typeof fault === 'object' ? fault : this.#service({ method, path, query: new URLSearchParams(search), headers, body }, this);
    if (fault === 'lost') return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers).end(method === 'HEAD' ? undefined : reply.body);
  }
}

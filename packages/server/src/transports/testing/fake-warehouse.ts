/** Tables in memory that take only what their columns allow, for the local servers that stand in for cloud warehouses. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Row = Record<string, unknown>;
export class FakeWarehouse {
  readonly tables = new Map<string, { columns: Map<string, string>; rows: Row[] }>();

  create(name: string, columns: [string, string][]): void {
    if (!this.tables.has(name)) this.tables.set(name, { columns: new Map(columns), rows: [] });
  }
  /** Why the row does not fit its table. */
  fault(name: string, row: Row): string | undefined {
    const table = this.tables.get(name);
    if (!table) return 'no such table';
    for (const [column, value] of Object.entries(row)) {
      const type = table.columns.get(column);
      if (type === undefined) return `no such field: ${column}`;
      if (value !== null && !fits(value, type.toUpperCase()))
        return `cannot convert ${JSON.stringify(value).slice(0, 50)} to ${type} in ${column}`;
    }
    return undefined;
  }
  insert(name: string, row: Row): void {
    this.tables.get(name)?.rows.push(row);
  }
  /** Times as `toISOString`. */
  rows(name: string): Row[] {
    return (this.tables.get(name)?.rows ?? []).map((row) => ({ ...row }));
  }
}

function fits(value: unknown, type: string): boolean {
  if (/^(?:STRING|VARCHAR)/.test(type)) return typeof value === 'string';
  if (/^BOOL/.test(type)) return typeof value === 'boolean';
  if (/^(?:FLOAT|DOUBLE)/.test(type)) return typeof value === 'number';
  if (/^TIMESTAMP/.test(type)) return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
  return true;
}

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
export type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'cut';

/** A server on a free port. `cut` ends the connection without an answer, after the request was handled. */
export async function serve(handle: (asked: Asked) => Answer | Promise<Answer>): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://x');
      const asked = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      void Promise.resolve(handle(asked))
        .catch((error: unknown): Answer => ({ status: 599, body: { message: String(error) } }))
        .then((answer) => {
          if (answer === 'cut') return void request.socket.destroy();
          const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {});
          response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(text);
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Answers to give instead of the real one: the first whose path matches is used and removed. */
export class Faults {
  #next: { path: RegExp; answer: Answer | ((asked: Asked) => Answer); after: boolean }[] = [];
  /** `after`: the request is handled first, so the client does not know that it succeeded. */
  add(path: RegExp, answer: Answer | ((asked: Asked) => Answer), { after = false } = {}): void {
    this.#next.push({ path, answer, after });
  }
  async apply(asked: Asked, handle: () => Answer | Promise<Answer>): Promise<Answer> {
    const index = this.#next.findIndex(({ path }) => path.test(asked.path));
    if (index < 0) return handle();
    const [fault] = this.#next.splice(index, 1);
    if (fault?.after) await handle();
    return typeof fault?.answer === 'function' ? fault.answer(asked) : (fault?.answer ?? handle());
  }
}

/** A fake vendor server: records every request and responds as the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}
export type Answer = { status?: number; headers?: Record<string, string>; body?: string; delayMs?: number } | 'hang' | 'reset';

export interface Receiver {
  url: string;
  requests: Received[];
  /** The events: bodies parsed as JSON, arrays flattened. */
  events(): Record<string, unknown>[];
  answer(next: (request: Received, count: number) => Answer): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const requests: Received[] = [];
  let next: (request: Received, count: number) => Answer = () => ({});
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request = {
        method: req.method!,
        path: req.url!,
        headers: req.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: Date.now(),
      };
      requests.push(request);
      reply(res, next(request, requests.length));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    events: () => requests.flatMap(({ body }) => [JSON.parse(body)].flat() as Record<string, unknown>[]),
    answer(how) {
      next = how;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function reply(res: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    res.socket?.destroy();
    return;
  }
  const send = () => {
    res.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    res.end(answer.body ?? '{}');
  };
  if (answer.delayMs) setTimeout(send, answer.delayMs);
  else send();
}

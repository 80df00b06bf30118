/** A proxy between an SDK and the service. It forwards everything, except for the faults that a story orders. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * `reset`: the connection ends without an answer, and the service sees nothing. `lost answer`: the service stores the events, but the
 * client never learns it. `limited`: the service itself answers 429.
 */
export type Fault = 'reset' | 'lost answer' | 'limited';

export interface Gate {
  url: string;
  /** One entry for each POST request, in the order of arrival. */
  posts: { path: string; encoding: string | undefined; outcome: number | Fault }[];
  /** The next POST requests meet these faults, one each. */
  order(...faults: Fault[]): void;
  close(): Promise<void>;
}

/** `limitedKey` is the key of a pipeline that takes one event a second: a request under this key gets the service's real 429. */
export async function openGate(service: string, limitedKey: string): Promise<Gate> {
  const ordered: Fault[] = [];
  const posts: Gate['posts'] = [];

  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    if (req.method !== 'POST') return copy(await forward(service, req, body), res);
    const fault = ordered.shift();
    const post: Gate['posts'][0] = { path: req.url ?? '', encoding: req.headers['content-encoding'], outcome: fault ?? 0 };
    posts.push(post);
    if (fault === 'limited') {
      await exhaust(service, limitedKey);
      const { 'x-write-key': _key, ...headers } = req.headers;
      const answer = await forward(service, req, body, { ...headers, authorization: `Bearer ${limitedKey}` });
      post.outcome = answer.statusCode ?? 0;
      return copy(answer, res);
    }
    if (fault !== 'reset') {
      const answer = await forward(service, req, body);
      if (fault === undefined) {
        post.outcome = answer.statusCode ?? 0;
        return copy(answer, res);
      }
      await buffer(answer);
    }
    req.socket.destroy();
  }

  const server = createServer((req, res) => {
    pass(req, res).catch((error: unknown) => res.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    order: (...faults) => void ordered.push(...faults),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** With the client's own Host header: the service names its address in the settings that browser SDKs load. */
function forward(service: string, req: IncomingMessage, body: Buffer, headers = req.headers): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${service}${req.url}`, { method: req.method ?? 'GET', headers, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
}

async function copy(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const { connection: _connection, 'transfer-encoding': _encoding, ...headers } = answer.headers;
  // Without keep-alive a reset reaches the SDK: Chromium itself repeats a request on a connection that it used before.
  res.writeHead(answer.statusCode ?? 502, { ...headers, connection: 'close' }).end(await buffer(answer));
}

/** Sends events until the service rejects them: the next request comes within the seconds that they cost. */
async function exhaust(service: string, key: string): Promise<void> {
  const batch = [1, 2, 3].map(() => ({ type: 'track', event: 'Filler', userId: 'nobody' }));
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let status: number;
  do ({ status } = await fetch(`${service}/v1/batch`, { method: 'POST', headers, body: JSON.stringify({ batch }) }));
  while (status !== 429);
}

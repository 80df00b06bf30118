/** Plays the vendors: accepts every request and hands it to `onRequest`. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface VendorRequest {
  vendor: string;
  body: unknown;
}

export async function startReceiver(onRequest: (request: VendorRequest) => void): Promise<{ url: string; server: Server }> {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    onRequest({ vendor: req.url?.split(/[/?]/)[1] ?? '', body: text === '' ? null : JSON.parse(text) });
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"events_received":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

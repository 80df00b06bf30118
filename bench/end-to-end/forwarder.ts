/** The baseline: receives with `node:http`, forwards with undici, stores nothing. Responds immediately, like the service. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2]!, { connections: 64 });
const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '16' }).end('{"success":true}');
    void pool
      .request({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body: Buffer.concat(chunks) })
      .then(({ body }) => body.dump());
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));

/** The baseline for ingest: reads the body and responds 200. Sends its port to the parent over IPC. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const OK = '{"success":true}';

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': OK.length });
    res.end(OK);
  });
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));

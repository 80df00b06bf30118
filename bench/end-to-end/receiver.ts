/** Counts events and measures their latency from the send time in their ids. Queried over IPC. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The text before the send time in an event of `ingest/load.ts`. */
const ID = '"event_id":"msg-';

let requests = 0;
let events = 0;
let latencies: number[] = [];
const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    requests++;
    const body = Buffer.concat(chunks);
    if (body[0] === 91) events += (JSON.parse(body.toString()) as unknown[]).length;
    else {
      events++;
      const at = body.indexOf(ID);
      if (at > 0) latencies.push(Date.now() - Number.parseInt(body.toString('latin1', at + ID.length, at + ID.length + 13), 10));
    }
    res.writeHead(200, { 'content-length': '2' }).end('{}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message) => {
  if (message === 'reset') {
    requests = events = 0;
    latencies = [];
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  process.send?.({
    requests,
    events,
    p50: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  });
});
process.on('disconnect', () => process.exit(0));

/** Counts events by their ids, and measures their latency from the send time in the id. Queried over IPC. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The text before the send time in an event of `ingest/load.ts`: `messageId` as sent, `event_id` as delivered. */
const ID = '"msg-';
/** Milliseconds since 1970, and a counter of three digits. */
const TIME_DIGITS = 13;
const ID_DIGITS = 16;

let requests = 0;
let events = 0;
const ids = new Set<string>();
let latencies: number[] = [];

/** Every event counts once: a repeated delivery is no throughput. */
function receive(body: Buffer, isBatch: boolean): void {
  for (let at = body.indexOf(ID); at >= 0; at = isBatch ? body.indexOf(ID, at + ID.length) : -1) {
    const from = at + ID.length;
    ids.add(body.toString('latin1', from, from + ID_DIGITS));
    events++;
    if (!isBatch) latencies.push(Date.now() - Number.parseInt(body.toString('latin1', from, from + TIME_DIGITS), 10));
  }
}
const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    requests++;
    const body = Buffer.concat(chunks);
    receive(body, body[0] === 91);
    res.writeHead(200, { 'content-length': '2' }).end('{}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message) => {
  if (message === 'reset') {
    requests = events = 0;
    latencies = [];
    ids.clear();
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  process.send?.({
    requests,
    events: ids.size,
    repeats: events - ids.size,
    p50: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  });
});
process.on('disconnect', () => process.exit(0));

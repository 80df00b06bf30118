/** A vendor for large volumes, in its own process: counts how often each event id arrives. Queried over IPC. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const delayMs = Number(process.argv[2] ?? 0);
const counts = new Map<string, number>();
let total = 0;
let latencies: number[] = [];
let arrivals: [string, number][] = [];
/** Fractions of a millisecond since 1970. */
const now = () => performance.timeOrigin + performance.now();
const ID = Buffer.from('"event_id":"');
const SENT_AT = Buffer.from('"sent_at":');

function note(body: Buffer): void {
  for (let at = body.indexOf(ID); at !== -1; at = body.indexOf(ID, at + 1)) {
    const from = at + ID.length;
    const id = body.toString('latin1', from, body.indexOf(34, from));
    counts.set(id, (counts.get(id) ?? 0) + 1);
    arrivals.push([id, now()]);
    total++;
  }
  for (let at = body.indexOf(SENT_AT); at !== -1; at = body.indexOf(SENT_AT, at + 1))
    latencies.push(now() - Number.parseFloat(body.toString('latin1', at + SENT_AT.length, at + SENT_AT.length + 15)));
}

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    note(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    const answer = () => res.writeHead(200, { 'content-length': '2' }).end('{}');
    if (delayMs > 0) setTimeout(answer, delayMs);
    else answer();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
// The parent may be gone; then the disconnect ends this process.
setInterval(() => process.send?.({ total, distinct: counts.size }, undefined, {}, () => {}), 50).unref();
process.on('message', (question) => {
  if (question === 'ids') process.send?.({ ids: [...counts.keys()], repeated: [...counts].filter(([, count]) => count > 1) });
  if (question === 'latencies') {
    process.send?.({ latencies, arrivals });
    latencies = [];
    arrivals = [];
  }
});
process.on('disconnect', () => process.exit(0));

/** The process under load: a bare listener that reads the body and answers 200, or ingest with its durable log. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aPipeline, aSnapshot, startIngest } from '../../packages/server/src/roles/ingest/testing.ts';

const OK = '{"success":true}';

async function start(kind: string): Promise<{ port: number; stored(): Promise<number>; close(): Promise<void> }> {
  if (kind === 'ingest') {
    const harness = await startIngest(aSnapshot([aPipeline({ rate_limit_rps: 10_000_000 })]));
    return { port: harness.port, stored: async () => (await harness.stored()).length, close: () => harness.close() };
  }
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': OK.length });
      res.end(OK);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, stored: async () => 0, close };
}

/** Private memory: the log's mapped file is the page cache's, not ours. */
function rssAnonMb(): number {
  const kb = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kb) / 1_024;
}

const running = await start(process.argv[2] ?? 'ingest');
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, rssAnonMb());
}, 100).unref();
process.on('message', (message) => {
  if (message === 'cpu') process.send!({ cpu: process.threadCpuUsage(), all: process.cpuUsage() });
  if (message === 'memory') process.send!({ memory: peak });
  if (message === 'stop') void running.close().then(() => process.exit(0));
});
process.send!({ port: running.port });

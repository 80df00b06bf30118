/**
 * The process under load: a bare listener that reads the body and answers 200, or ingest with its durable log and nothing
 * else. Asked over IPC.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ingestTopic, PARTITIONS } from '../../packages/server/src/partition.ts';
import { aPipeline, aSnapshot, startIngest } from '../../packages/server/src/roles/ingest/testing.ts';
import { rssAnonMb } from './memory.ts';

const OK = '{"success":true}';

interface Running {
  port: number;
  /** One bit for every stored event whose id is `prefix` and a number. */
  stored(prefix: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

async function start(kind: string): Promise<Running> {
  if (kind === 'ingest') {
    const harness = await startIngest(aSnapshot([aPipeline({ rate_limit_rps: 10_000_000 })]));
    return {
      port: harness.port,
      async stored(prefix) {
        let bits = new Uint8Array(1_024);
        for (let partition = 0; partition < PARTITIONS; partition++)
          for await (const { id } of harness.log.read(ingestTopic(partition), { limit: Number.MAX_SAFE_INTEGER })) {
            const at = id.indexOf(prefix);
            if (at === -1) continue;
            const n = Number(id.slice(at + prefix.length));
            while (n >> 3 >= bits.length) bits = grown(bits);
            bits[n >> 3]! |= 1 << (n & 7);
          }
        return bits;
      },
      close: () => harness.close(),
    };
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
  return { port: (server.address() as AddressInfo).port, stored: async () => new Uint8Array(), close };
}
function grown(bits: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const more = new Uint8Array(bits.length * 2);
  more.set(bits);
  return more;
}

const running = await start(process.argv[2] ?? 'ingest');
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, rssAnonMb('self'));
}, 100).unref();
process.on('message', (message: string | { stored: string }) => {
  if (message === 'cpu') process.send!({ cpu: process.threadCpuUsage(), all: process.cpuUsage() });
  if (message === 'memory') process.send!({ memory: peak });
  if (message === 'stop') void running.close().then(() => process.exit(0));
  if (typeof message === 'object')
    void running.stored(message.stored).then((bits) => process.send!({ stored: Buffer.from(bits).toString('base64') }));
});
process.send!({ port: running.port });

import { gzipSync } from 'node:zlib';
import { send, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { privateMb, watchMemory } from './kit/measure.ts';
import { Line } from './kit/sender.ts';

const MB = 1_048_576;

/** A request head and body; the body may be chunked. */
function request(key: string, path: string, body: Buffer, options: { chunked?: boolean; headers?: string } = {}): Buffer {
  const length = options.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${options.headers ?? ''}${length}\r\n\r\n`;
  if (!options.chunked) return Buffer.concat([Buffer.from(head), body]);
  const parts: Buffer[] = [Buffer.from(head)];
  for (let at = 0; at < body.length; at += 65_536) {
    const part = body.subarray(at, at + 65_536);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
const event = (properties: string) => Buffer.from(`{"type":"track","event":"Bad","properties":${properties}}`);

export const f16: Fault = {
  id: 'F16',
  title: 'oversized, chunked, many keys; depth bomb; zip bomb (F16–F18)',
  limit_s: { quick: 90, normal: 120, full: 120 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const rounds = scope.by(10, 40);
    const service = await scope.service();
    const sink = await scope.sink();
    const { key } = await scope.pipeline(service, sink.url);
    const port = Number(new URL(service.url).port);
    const deep = (levels: number) => event(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    const keys = `{${Array.from({ length: 10_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`;
    const bomb = gzipSync(Buffer.alloc(200 * MB, 32), { level: 9 });
    const gzip = 'Content-Encoding: gzip\r\n';
    const cases: { name: string; wanted: number; bytes: Buffer }[] = [
      { name: '3 MB body', wanted: 413, bytes: request(key, '/v1/t', event(`{"a":"${'x'.repeat(3 * MB)}"}`)) },
      { name: '3 MB body in chunks', wanted: 413, bytes: request(key, '/v1/t', event(`{"a":"${'x'.repeat(3 * MB)}"}`), { chunked: true }) },
      { name: '8 MB batch', wanted: 413, bytes: request(key, '/v1/batch', Buffer.from(`{"batch":["${'x'.repeat(8 * MB)}"]}`)) },
      {
        name: '501 events',
        wanted: 413,
        bytes: request(key, '/v1/batch', Buffer.from(`{"batch":[${Array(501).fill('{"type":"track","event":"B"}').join(',')}]}`)),
      },
      { name: '65 levels', wanted: 400, bytes: request(key, '/v1/t', deep(70)) },
      { name: '500,000 levels', wanted: 400, bytes: request(key, '/v1/t', deep(500_000)) },
      { name: '400,000 levels in gzip', wanted: 400, bytes: request(key, '/v1/t', gzipSync(deep(400_000)), { headers: gzip }) },
      {
        name: `200 MB in ${Math.round(bomb.length / 1_024)} KB of gzip`,
        wanted: 413,
        bytes: request(key, '/v1/t', bomb, { headers: gzip }),
      },
      {
        name: 'gzip that is cut short',
        wanted: 400,
        bytes: request(key, '/v1/t', gzipSync(event('{}')).subarray(0, 20), { headers: gzip }),
      },
      { name: '10,000 keys', wanted: 200, bytes: request(key, '/v1/t', event(keys)) },
      { name: '1 MB event name', wanted: 413, bytes: request(key, '/v1/t', Buffer.from(`{"type":"track","event":"${'n'.repeat(MB)}"}`)) },
    ];
    // Warm-up round, so that the memory of first use does not count as growth.
    for (const { bytes } of cases) await (await Line.open(port))?.ask(bytes);
    const before = privateMb(service.pid!);
    const memory = watchMemory(() => service.pid);
    for (const { name, wanted, bytes } of cases) {
      const statuses = new Set<number | string>();
      let slowest = 0;
      for (let round = 0; round < rounds; round++) {
        const line = await Line.open(port);
        const start = performance.now();
        const answer = await line?.ask(bytes);
        slowest = Math.max(slowest, performance.now() - start);
        statuses.add(answer?.status ?? 'none');
        line?.end();
      }
      figures.equal(name, [...statuses].join(', '), String(wanted));
      if (slowest > 1_000) figures.tell(`${name}: slowest`, slowest, 'ms');
    }
    memory.stop();
    figures.tell('private memory before', before, 'MB');
    figures.atMost('and at its peak above that', memory.peak - before, 120, 'MB');
    const stored = sink.distinct;
    await send(service, key, '/v1/t', { type: 'track', event: 'Good', messageId: 'after' });
    await until('a good event afterwards', () => sink.distinct > stored, 20_000);
    figures.equal('the process', service.ended() === undefined ? 'lives' : 'ended', 'lives');
    return figures.verdict;
  },
};

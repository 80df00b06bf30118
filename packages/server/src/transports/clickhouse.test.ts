import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openClickhouse } from './clickhouse.ts';
import { driverOptions, record } from './testing/conformance.ts';

const limits = { timeout_ms: 20_000 };

describe('answers of ClickHouse', () => {
  const answering = async (status: number, headers: Record<string, string>, body: string) => {
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      request.on('end', () => {
        const insert = new URL(request.url ?? '/', 'http://x').searchParams.get('query')?.startsWith('INSERT');
        if (insert) response.writeHead(status, headers).end(body);
        else
          response.end(
            JSON.stringify({
              data: text.includes('system.columns')
                ? [
                    ['event_id', 'String'],
                    ['event', 'Nullable(String)'],
                    ['total', 'Nullable(Float64)'],
                  ]
                : [],
            }),
          );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return openClickhouse({ url, database: 'd', create_table: 'true' }, driverOptions()).send([record('t', 1), record('t', 2)], limits);
  };
  test.each([
    [
      200,
      { 'X-ClickHouse-Exception-Code': '241' },
      'Code: 241. DB::Exception: Memory limit',
      { kind: 'unavailable', reason: expect.stringContaining('clickhouse 241') },
    ],
    [500, {}, 'Code: 252. DB::Exception: Too many parts', { kind: 'unavailable' }],
    [503, { 'Retry-After': '7' }, 'busy', { kind: 'unavailable', retry_after_ms: 7_000 }],
    [400, { 'X-ClickHouse-Exception-Code': '27' }, 'Code: 27. Cannot parse input', { kind: 'unavailable', isolate: true }],
    [400, { 'X-ClickHouse-Exception-Code': '62' }, 'Code: 62. Syntax error', { kind: 'refused' }],
  ])('%s %j is %j', async (status, headers, body, verdict) => {
    expect(await answering(status, headers, body)).toMatchObject(verdict);
  });
});

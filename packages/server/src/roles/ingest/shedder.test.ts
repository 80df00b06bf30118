import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createShedder, OVERLOADED, type Refusable } from './shedder.ts';

afterEach(() => vi.useRealTimers());

test('shed requests are refused a little later, or at once when asked', () => {
  vi.useFakeTimers();
  const shedder = createShedder();
  const refused: unknown[] = [];
  const exchange = {
    req: { socket: {} },
    res: { socket: {} },
    refuse: (refusal: unknown) => refused.push(refusal),
  } as unknown as Refusable;
  shedder.shed(exchange);
  vi.advanceTimersByTime(5);
  expect(refused).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(refused).toEqual([OVERLOADED]);
  shedder.shed(exchange);
  shedder.flush();
  expect(refused).toHaveLength(2);
  for (let i = 0; i < 4_001; i++) shedder.shed(exchange);
  expect(refused, 'past the bound at once').toHaveLength(3);
});

test('a connection full of requests is read bit by bit, other turns go on, and all are refused in order', async () => {
  const shedder = createShedder();
  let perTurn = 0;
  let most = 0;
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    most = Math.max(most, ++perTurn);
    shedder.shed({ req, res, refuse: () => res.writeHead(503, { 'content-length': '0' }).end() });
  });
  let turning = true;
  const turn = () => {
    perTurn = 0;
    if (turning) setImmediate(turn);
  };
  turn();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const one = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(1_000)}`;
  const all = 2_000;
  let answers = 0;
  let rest = '';
  socket.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1');
    answers += text.split('HTTP/1.1 503').length - 1;
    rest = text.slice(-11);
  });
  for (let i = 0; i < all; i++) socket.write(one);
  await expect.poll(() => answers).toBe(all);
  // As many as one reading of 64 KB can hold.
  expect(most).toBeLessThan(70);
  turning = false;
  socket.destroy();
  server.close();
});

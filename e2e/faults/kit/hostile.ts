/** A vendor with hostile responses. Measures how long each exchange lasts. */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export const HABITS = ['drips', 'endless_headers', 'huge_body', 'broken_gzip', 'resets_mid_body', 'silent'] as const;
export type Habit = (typeof HABITS)[number];
export interface Exchange {
  habit: Habit;
  /** From the complete request to the end of the connection or response. */
  lastedMs: number;
}

export async function startHostile(): Promise<{ url: string; exchanges: Exchange[]; close(): Promise<void> }> {
  const exchanges: Exchange[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    let timer: NodeJS.Timeout | undefined;
    let begun: { habit: Habit; at: number } | undefined;
    const finish = () => {
      clearInterval(timer);
      if (begun) exchanges.push({ habit: begun.habit, lastedMs: performance.now() - begun.at });
      begun = undefined;
    };
    socket.on('error', finish);
    socket.on('close', () => {
      open.delete(socket);
      finish();
    });
    socket.on('data', (chunk: Buffer) => {
      const habit = HABITS.find((name) => chunk.toString('latin1').includes(`POST /${name} `));
      if (!habit || begun) return;
      begun = { habit, at: performance.now() };
      timer = misbehave(socket, habit);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function misbehave(socket: Socket, habit: Habit): NodeJS.Timeout | undefined {
  switch (habit) {
    case 'silent':
      return undefined;
    case 'drips':
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      return setInterval(() => socket.write('x'), 1_000);
    case 'endless_headers':
      socket.write('HTTP/1.1 200 OK\r\n');
      // Slow enough that the size limit does not end it before the timeout.
      return setInterval(() => socket.write('X-More: and more\r\n'), 200);
    case 'huge_body': {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${10 * 2 ** 30}\r\n\r\n`);
      const chunk = Buffer.alloc(65_536, 'x');
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', pour);
      pour();
      return undefined;
    }
    case 'broken_gzip':
      socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n\x1f\x8bnot really gzip!!!');
      return undefined;
    case 'resets_mid_body':
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf', () => setTimeout(() => socket.resetAndDestroy(), 50));
      return undefined;
  }
}

import { connect } from 'node:net';
import { corpus } from '../corpus.ts';
import type { Runner } from '../target.ts';

const METHODS = ['GET', 'POST', 'CONNECT', 'OPTIONS', 'PRI'];
const HEADERS = [
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: bearer, \r\nSec-WebSocket-Key: x',
];

/** Upgrade requests with hostile targets, methods and headers. Any answer but a 5xx is fine, and so is a closed connection. */
export const upgrades: Runner = {
  name: 'upgrades',
  async run({ port }, rounds, note) {
    for (const round of rounds)
      for (const target of corpus<string>('upgrade-targets'))
        for (const method of round === 0 ? METHODS.slice(0, 1) : METHODS)
          for (const headers of HEADERS) {
            const answer = await ask(port, `${method} ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`);
            note(`${method} ${target.slice(0, 60)}`, answer, !answer.startsWith('5'));
          }
  },
};

function ask(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request, 'latin1'));
    let said = '';
    const end = () => {
      socket.destroy();
      resolve(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 'closed');
    };
    socket.setTimeout(2_000, end);
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1');
      end();
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

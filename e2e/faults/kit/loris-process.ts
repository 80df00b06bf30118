/** Slow-loris sockets: each sends one byte per second and never finishes its request. Reconnects when cut off. */
import { connect, type Socket } from 'node:net';

const [port, key, count] = [Number(process.argv[2]), process.argv[3]!, Number(process.argv[4])];
const sockets: Socket[] = [];
let opened = 0;
let ended = 0;

function loris(n: number): void {
  const socket = connect(port, '127.0.0.1', () => {
    opened++;
    // Half of them never finish the headers, the others never finish the body.
    const head = `POST /v1/t HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;
    socket.write(n % 2 === 0 ? `${head}X-Slow: ` : `${head}Content-Length: 1000000\r\n\r\n{"type":"`);
  });
  sockets[n] = socket;
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.on('close', () => {
    ended++;
    setTimeout(() => loris(n), 100);
  });
}
let next = 0;
const opening = setInterval(() => {
  for (let n = 0; n < 50 && next < count; n++) loris(next++);
  if (next < count) return;
  clearInterval(opening);
  process.send?.('open');
}, 20);

// Spread over the second: 2,000 packets at once would be a burst.
let turn = 0;
setInterval(() => {
  for (let n = turn; n < sockets.length; n += 100) if (sockets[n]!.writable) sockets[n]!.write('x');
  turn = (turn + 1) % 100;
}, 10);
process.on('message', () => process.send?.({ opened, ended }));
process.on('disconnect', () => process.exit(0));

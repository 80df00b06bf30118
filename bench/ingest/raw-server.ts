/**
 * The second floor for ingest: finds the end of each request in the bytes and writes the same response bytes each time. No Node program
 * that speaks HTTP on sockets of its own can be much cheaper. Sends its port to the parent over IPC.
 */
import { type AddressInfo, createServer } from 'node:net';

const BODY = '{"success":true}';
const OK = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`);
const HEAD_END = '\r\n\r\n';
const LENGTH = 'Content-Length: ';

const server = createServer({ noDelay: true }, (socket) => {
  let left: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
    for (;;) {
      const head = left.indexOf(HEAD_END);
      const length = left.indexOf(LENGTH);
      if (head < 0 || length < 0) return;
      const end = head + HEAD_END.length + Number.parseInt(left.toString('latin1', length + LENGTH.length, head), 10);
      if (left.length < end) return;
      left = left.subarray(end);
      socket.write(OK);
    }
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));

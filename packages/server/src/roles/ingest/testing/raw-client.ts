/** A client on a bare socket, for tests about what is sent when and in which order. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';

export interface RawAnswer {
  status: number;
  head: string[];
  body: string;
}

export class Client {
  readonly socket: Socket;
  #text = '';
  closed = false;
  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
  }
  /** The next answer. */
  async answer(): Promise<RawAnswer> {
    await expect.poll(() => this.#text).toContain('\r\n\r\n');
    const [lines, ...rest] = this.#text.split('\r\n\r\n') as [string, ...string[]];
    const [first, ...head] = lines.split('\r\n') as [string, ...string[]];
    const length = Number(/^Content-Length: (\d+)$/m.exec(lines)?.[1] ?? 0);
    const after = rest.join('\r\n\r\n');
    expect(after.length).toBeGreaterThanOrEqual(length);
    this.#text = after.slice(length);
    return { status: Number(first.split(' ')[1]), head, body: after.slice(0, length) };
  }
}

/** Whose first request is answered: Node makes the first answer of a connection, whatever it is about. */
export async function servedClient(port: number, request: string): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const client = new Client(socket);
  socket.write(request);
  expect((await client.answer()).status).toBe(200);
  return client;
}

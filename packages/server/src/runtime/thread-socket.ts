/**
 * Byte streams between two threads. The one that accepts connections opens them, and the other one serves them as it would sockets. A chunk
 * is on its way at a time: a reader that waits makes the writer wait, and copies of a large answer stay few.
 */
import { Duplex } from 'node:stream';
import { freeBytes } from './free-bytes.ts';
import type { ThreadLink } from './thread-link.ts';

/** Most bytes of a chunk. Smaller ones take more time, larger ones more memory for readers that wait. */
const CHUNK_BYTES = 262_144;
const CLOSED = 'connection closed by the other thread';

export class ThreadSockets {
  readonly #link: ThreadLink;
  readonly #open = new Map<number, ThreadSocket>();
  #lastId = 0;

  /** `onConnection`: called in the thread that serves. */
  constructor(link: ThreadLink, onConnection?: (socket: ThreadSocket) => void) {
    this.#link = link;
    link.on('socket.open', ([id, remoteAddress]: [number, string | undefined]) => onConnection?.(this.#add(id, remoteAddress)));
    link.on('socket.data', ([id, bytes]: [number, Uint8Array<ArrayBuffer>]) => this.#open.get(id)?.received(bytes));
    link.on('socket.taken', (id: number) => this.#open.get(id)?.taken());
    link.on('socket.end', (id: number) => this.#open.get(id)?.ended());
    link.on('socket.close', (id: number) => this.#open.get(id)?.destroy(new Error(CLOSED)));
  }

  /** `remoteAddress`: of the client, as the other thread shall see it. */
  open(remoteAddress: string | undefined): ThreadSocket {
    const id = ++this.#lastId;
    this.#link.tell('socket.open', [id, remoteAddress]);
    return this.#add(id, remoteAddress);
  }

  #add(id: number, remoteAddress: string | undefined): ThreadSocket {
    const socket = new ThreadSocket(this.#link, id, remoteAddress);
    this.#open.set(id, socket);
    socket.once('close', () => this.#open.delete(id));
    return socket;
  }
}

export class ThreadSocket extends Duplex {
  /** As of `net.Socket`. */
  readonly remoteAddress: string | undefined;
  readonly #link: ThreadLink;
  readonly #id: number;
  /** What the other thread gets after the chunk that is on its way. */
  #unsent: Buffer[] = [];
  /** Called when the other thread has taken all of it. */
  #written: (() => void) | undefined;
  /** The other thread waits until its chunk is taken. */
  #owesTaken = false;
  #freesRead = false;
  #theirsEnded = false;

  constructor(link: ThreadLink, id: number, remoteAddress: string | undefined) {
    super({ emitClose: true });
    this.#link = link;
    this.#id = id;
    this.remoteAddress = remoteAddress;
  }

  /** Frees each chunk once it is read. Only for a reader that keeps no reference to it, such as an HTTP parser. */
  freeRead(): void {
    this.#freesRead = true;
  }
  received(bytes: Uint8Array<ArrayBuffer>): void {
    this.#owesTaken = true;
    this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (this.#freesRead && this.readableLength === 0) freeBytes(bytes);
  }
  taken(): void {
    if (this.#unsent.length > 0) {
      this.#sendChunk();
      return;
    }
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }
  ended(): void {
    this.#theirsEnded = true;
    this.push(null);
  }

  override _read(): void {
    if (!this.#owesTaken) return;
    this.#owesTaken = false;
    this.#link.tell('socket.taken', this.#id);
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send([chunk], done);
  }
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }
  #send(buffers: Buffer[], done: () => void): void {
    this.#unsent = buffers.filter(({ length }) => length > 0);
    this.#written = done;
    if (this.#unsent.length > 0) this.#sendChunk();
    else this.taken();
  }
  /** Small buffers go together, and a large one in parts. */
  #sendChunk(): void {
    const buffers = this.#unsent;
    const size = buffers.reduce((sum, { length }) => sum + length, 0);
    const chunk = new Uint8Array(Math.min(size, CHUNK_BYTES));
    let at = 0;
    let used = 0;
    while (at < chunk.length) {
      const part = buffers[used]!.subarray(0, chunk.length - at);
      chunk.set(part, at);
      at += part.length;
      if (part.length < buffers[used]!.length) buffers[used] = buffers[used]!.subarray(part.length);
      else used++;
    }
    this.#unsent = buffers.slice(used);
    this.#link.tell('socket.data', [this.#id, chunk], [chunk.buffer]);
  }
  override _final(done: () => void): void {
    this.#link.tell('socket.end', this.#id);
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Both sides ended: the other one closes by itself.
    if (!(this.writableFinished && this.#theirsEnded)) this.#link.tell('socket.close', this.#id);
    done(error);
  }
}

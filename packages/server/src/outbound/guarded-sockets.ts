/**
 * For client libraries that open their own sockets and accept no `lookup`: refuses connections to addresses that integrations
 * may not reach. The address that is checked is the one connected to. It covers every socket opened inside `run`, reconnects and
 * brokers that the first one advertises included. An inspector sees the bytes before the library does, and can end the connection.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { DestinationRefused } from './resolver.ts';

const current = new AsyncLocalStorage<SocketGuard>();
subscribe('net.client.socket', (message) => current.getStore()?.watch((message as { socket: Socket }).socket));

export interface Inspector {
  /** Returns why the connection must end. */
  read(chunk: Buffer): string | undefined;
  closed(): void;
}
/** Called for each socket. */
export type Inspect = () => Inspector;

export class SocketGuard {
  readonly #allowPrivate: boolean;
  readonly #inspect: Inspect | undefined;
  #refused: DestinationRefused | undefined;
  #fault: string | undefined;

  constructor({ allowPrivateDestinations }: { allowPrivateDestinations: boolean }, inspect?: Inspect) {
    this.#allowPrivate = allowPrivateDestinations;
    this.#inspect = inspect;
  }

  /** Set once a connection was refused. Client libraries wrap the error of the socket, so ask here. */
  get refused(): DestinationRefused | undefined {
    return this.#refused;
  }
  /** Why the inspector ended a connection, the last time. */
  get fault(): string | undefined {
    return this.#fault;
  }
  run<T>(work: () => T): T {
    return this.#allowPrivate && this.#inspect === undefined ? work() : current.run(this, work);
  }
  watch(socket: Socket): void {
    if (this.#inspect) this.#inspectReads(socket, this.#inspect());
    if (this.#allowPrivate) return;
    socket.on('connectionAttempt', (address: string) => {
      if (isPublicAddress(address)) return;
      const refused = new DestinationRefused(`${address} is not a public address`);
      this.#refused = refused;
      // Node uses the handle right after this event, so the socket cannot be destroyed at once. Until then its handle connects to nothing.
      const { _handle: handle } = socket as unknown as { _handle: Record<'connect' | 'connect6', () => number> | null };
      if (handle) handle.connect = handle.connect6 = () => 0;
      process.nextTick(() => socket.destroy(refused));
    });
  }
  /** Not a listener for `data`, which would make the bytes flow before the library listens. */
  #inspectReads(socket: Socket, inspector: Inspector): void {
    const push = socket.push.bind(socket);
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      const fault = Buffer.isBuffer(chunk) ? inspector.read(chunk) : undefined;
      if (fault === undefined) return push(chunk, encoding);
      this.#fault = fault;
      socket.destroy(new Error(fault));
      return false;
    };
    socket.once('close', () => inspector.closed());
  }
}

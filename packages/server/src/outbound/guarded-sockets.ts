/**
 * For client libraries that open their own sockets and accept no `lookup`: refuses connections to addresses that integrations
 * may not reach. The address that is checked is the one connected to. It covers every socket opened inside `run`, reconnects and
 * brokers that the first one advertises included.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { DestinationRefused } from './resolver.ts';

const current = new AsyncLocalStorage<SocketGuard>();
subscribe('net.client.socket', (message) => current.getStore()?.watch((message as { socket: Socket }).socket));

export class SocketGuard {
  readonly #allowPrivate: boolean;
  #refused: DestinationRefused | undefined;

  constructor({ allowPrivateDestinations }: { allowPrivateDestinations: boolean }) {
    this.#allowPrivate = allowPrivateDestinations;
  }

  /** Set once a connection was refused. Client libraries wrap the error of the socket, so ask here. */
  get refused(): DestinationRefused | undefined {
    return this.#refused;
  }
  run<T>(work: () => T): T {
    return this.#allowPrivate ? work() : current.run(this, work);
  }
  watch(socket: Socket): void {
    socket.on('connectionAttempt', (address: string) => {
      if (isPublicAddress(address)) return;
      const refused = new DestinationRefused(`${address} is not a public address`);
      this.#refused = refused;
      // Not at once: Node uses the socket's handle right after this event. Nothing is written before the next tick.
      process.nextTick(() => socket.destroy(refused));
    });
  }
}

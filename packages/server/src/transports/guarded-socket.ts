import { Socket } from 'node:net';
import { isPublicAddress, literalAddress } from '../outbound/addresses.ts';
import type { DriverOptions } from './port.ts';

/** Database clients connect by host and port; this refuses what an integration may not reach. */
export class GuardedSocket extends Socket {
  readonly #options: DriverOptions;
  constructor(options: DriverOptions) {
    super();
    this.#options = options;
  }
  override connect(...args: unknown[]): this {
    const [port, host] = args;
    // A path is a Unix socket of the service's own machine.
    if (typeof port !== 'number' || typeof host !== 'string') return this.#refuse(`${String(port)} is not a host and a port`);
    const literal = literalAddress(host);
    if (literal !== undefined && !this.#options.allowPrivateDestinations && !isPublicAddress(literal))
      return this.#refuse(`${host} is not a public address`);
    return super.connect({ port, host, lookup: this.#options.lookup });
  }
  #refuse(reason: string): this {
    process.nextTick(() => this.destroy(Object.assign(new Error(reason), { code: 'DESTINATION_REFUSED' })));
    return this;
  }
}

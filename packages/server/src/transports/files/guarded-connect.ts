import { connect, type Socket } from 'node:net';
import { isPublicAddress, literalAddress } from '../../outbound/addresses.ts';
import { DestinationRefused } from '../../outbound/resolver.ts';
import type { DriverOptions } from '../port.ts';

/** A TCP connection to an address that integrations may reach. */
export function connectGuarded(host: string, port: number, { lookup, allowPrivateDestinations }: DriverOptions): Promise<Socket> {
  const literal = literalAddress(host);
  if (literal !== undefined && !allowPrivateDestinations && !isPublicAddress(literal))
    return Promise.reject(new DestinationRefused(`${host} is not a public address`));
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup });
    // Stays: a reset before a client library has taken the socket over would be an uncaught exception.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

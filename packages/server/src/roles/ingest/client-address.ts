/** The visitor's address: the connection's, or what trusted proxies say. */
import { isIP, type Socket } from 'node:net';
import { addressMatcher, plainAddress } from '../../network/address-matcher.ts';
import type { CollectionHeaders } from './collection-headers.ts';

/** A request, as far as it says where it came from. */
export interface Received {
  req: { socket: Pick<Socket, 'remoteAddress'> };
  headers: Pick<CollectionHeaders, 'host' | 'x-forwarded-for' | 'x-forwarded-host' | 'x-forwarded-proto'>;
}

export interface Proxies {
  address(received: Received): string | undefined;
  /** The scheme and host under which the client called, as far as they are known. */
  secure(received: Received): boolean;
  host(received: Received): string;
}

export function createProxies(trustProxy: number | string[] | undefined, ingestUrl: string | undefined): Proxies {
  const trusted = Array.isArray(trustProxy) ? addressMatcher(trustProxy) : undefined;
  const hops = typeof trustProxy === 'number' ? trustProxy : 0;
  const believes = ({ req }: Received) => hops > 0 || (trusted?.(req.socket.remoteAddress ?? '') ?? false);
  const always = ingestUrl?.startsWith('https://') ?? false;
  return {
    address(received) {
      const { req, headers } = received;
      const direct = plainAddress(req.socket.remoteAddress ?? '');
      const forwarded = headers['x-forwarded-for'];
      if (forwarded === undefined || !believes(received)) return direct === '' ? undefined : direct;
      const chain = forwarded.split(',').map(readAddress);
      if (trusted === undefined) return chain[Math.max(0, chain.length - hops)] || direct;
      // From the nearest hop outwards: the first that is no trusted proxy is the client.
      for (let i = chain.length - 1; i >= 0; i--) {
        const hop = chain[i]!;
        if (hop === '') break;
        if (i === 0 || !trusted(hop)) return hop;
      }
      return direct;
    },
    secure(received) {
      if (always || 'encrypted' in received.req.socket) return true;
      return believes(received) && /^https\b/i.test(received.headers['x-forwarded-proto'] ?? '');
    },
    host(received) {
      const forwarded = believes(received) ? received.headers['x-forwarded-host'] : undefined;
      const [nearest = ''] = (forwarded ?? received.headers.host ?? '').split(',');
      return nearest.trim();
    },
  };
}

/** The address without the port and brackets that some proxies add. Empty if the text is not an address. */
function readAddress(text: string): string {
  const trimmed = text.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1];
  const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d+$/.exec(trimmed)?.[1];
  const address = plainAddress(bracketed ?? withPort ?? trimmed);
  return isIP(address) === 0 ? '' : address;
}

/** The visitor's address: the connection's, or what trusted proxies say. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressMatcher, plainAddress } from '../../network/address-matcher.ts';

export interface Proxies {
  address(req: IncomingMessage): string | undefined;
  /** The scheme and host under which the client called, as far as they are known. */
  secure(req: IncomingMessage): boolean;
  host(req: IncomingMessage): string;
}

export function createProxies(trustProxy: number | string[] | undefined, ingestUrl: string | undefined): Proxies {
  const trusted = Array.isArray(trustProxy) ? addressMatcher(trustProxy) : undefined;
  const hops = typeof trustProxy === 'number' ? trustProxy : 0;
  const believes = (req: IncomingMessage) => hops > 0 || (trusted?.(req.socket.remoteAddress ?? '') ?? false);
  const always = ingestUrl?.startsWith('https://') ?? false;
  return {
    address(req) {
      const direct = plainAddress(req.socket.remoteAddress ?? '');
      const forwarded = req.headers['x-forwarded-for'];
      if (forwarded === undefined || !believes(req)) return direct === '' ? undefined : direct;
      const chain = String(forwarded).split(',').map(readAddress);
      if (trusted === undefined) return chain[Math.max(0, chain.length - hops)] || direct;
      // From the nearest hop outwards: the first that is no trusted proxy is the client.
      for (let i = chain.length - 1; i >= 0; i--) {
        const hop = chain[i]!;
        if (hop === '') break;
        if (i === 0 || !trusted(hop)) return hop;
      }
      return direct;
    },
    secure(req) {
      if (always || 'encrypted' in req.socket) return true;
      return believes(req) && /^https\b/i.test(String(req.headers['x-forwarded-proto'] ?? ''));
    },
    host(req) {
      const forwarded = believes(req) ? req.headers['x-forwarded-host'] : undefined;
      const [nearest = ''] = String(forwarded ?? req.headers.host ?? '').split(',');
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

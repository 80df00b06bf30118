import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Whether an address is on the public internet. False for private, loopback, link-local, carrier-grade NAT, multicast and
 * documentation addresses. Also false for IPv6 forms that embed an IPv4 address (NAT64, 6to4, Teredo): whoever owns the DNS name chooses
 * the embedded address. A v4-mapped address is judged as IPv4.
 */
export function isPublicAddress(address: string): boolean {
  // `::8.8.8.8` is the deprecated IPv4-compatible form; the parser would treat it as v4-mapped.
  if (!ipaddr.isValid(address) || /^(?!::ffff:\d)[^:]*:[^.]*\./i.test(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  // Only 2000::/3 is assigned as global unicast.
  return parsed.kind() === 'ipv4' || (((parsed as ipaddr.IPv6).parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** The IP address if the URL's host is one; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

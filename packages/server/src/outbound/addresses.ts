import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Whether an address belongs to the public internet. Everything special is refused: private, loopback, link-local,
 * carrier-grade NAT, multicast, documentation, and the IPv6 forms that carry an IPv4 address inside (NAT64, 6to4,
 * Teredo), because the inner address is chosen by whoever owns the name. A v4-mapped address is judged as its IPv4.
 */
export function isPublicAddress(address: string): boolean {
  // `::8.8.8.8` is an address of its own, outdated kind; the parser would take it for the mapped one.
  if (!ipaddr.isValid(address) || /^(?!::ffff:\d).*:.*\./i.test(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  // Only 2000::/3 is handed out as global unicast; the rest (::a.b.c.d among it) is unassigned or outdated.
  return parsed.kind() === 'ipv4' || ((parsed as ipaddr.IPv6).parts[0]! & 0xe000) === 0x2000;
}

/** The address that a URL's host is, where it is one and no name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

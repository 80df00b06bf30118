import { BlockList, isIP } from 'node:net';

/** Compiles a list of addresses and networks. An IPv4 address matches in its IPv6 form (`::ffff:192.0.2.1`) too. */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const network = parseNetwork(entry);
    // An invalid entry matches nothing. Settings and the management API reject it earlier.
    if (network) list.addSubnet(network.address, network.prefix, network.type);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Whether the text is an IP address or a network in CIDR notation: exactly what `addressMatcher` understands. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined;
}

function parseNetwork(text: string): { address: string; prefix: number; type: 'ipv4' | 'ipv6' } | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIP(address);
  // A zone (`fe80::1%eth0`) names an interface of one machine; it has no meaning in a list.
  if (family === 0 || address.includes('%') || rest.length > 0) return undefined;
  const longest = family === 6 ? 128 : 32;
  if (length !== undefined && !(/^\d{1,3}$/.test(length) && Number(length) <= longest)) return undefined;
  return { address, prefix: length === undefined ? longest : Number(length), type: family === 6 ? 'ipv6' : 'ipv4' };
}

/** An IPv4 address that arrived in IPv6 form, as IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

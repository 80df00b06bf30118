import ipaddr from 'ipaddr.js';

/** The network a client address belongs to: /24 for IPv4, /64 for IPv6. One subscriber usually owns all of a /64. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  // `process` turns an IPv4 address mapped into IPv6 back into IPv4.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, 3).join('.')}.0/24`;
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

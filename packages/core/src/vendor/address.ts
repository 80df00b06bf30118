/**
 * Addresses that are not on the public internet: loopback, private, link-local, shared (CGNAT), multicast,
 * reserved, and every IPv6 form that carries such an IPv4 address inside (mapped, compatible, NAT64, 6to4, Teredo).
 */

const V4_BLOCKS: readonly [base: number, bits: number][] = (
  [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const
).map(([text, bits]) => [parseV4(text) as number, bits]);

/** A literal IP address that must not be reached. Text that is no address is not private: names are checked when they are resolved. */
export function isPrivateAddress(text: string): boolean {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const v4 = parseV4(bare);
  if (v4 !== undefined) return isPrivateV4(v4);
  const v6 = parseV6(bare);
  return v6 !== undefined && isPrivateV6(v6);
}

export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}

function isPrivateV4(address: number): boolean {
  return V4_BLOCKS.some(([base, bits]) => (address ^ base) >>> (32 - bits) === 0);
}

function isPrivateV6(groups: number[]): boolean {
  const [g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups;
  const low = ((g6 << 16) | g7) >>> 0;
  const leadingZero = g0 === 0 && g1 === 0 && g2 === 0 && g3 === 0;
  if (leadingZero && g4 === 0 && (g5 === 0 || g5 === 0xffff)) return g5 === 0 ? true : isPrivateV4(low);
  if (leadingZero && g4 === 0xffff && g5 === 0) return isPrivateV4(low); // IPv4-translated
  if (g0 === 0x64 && g1 === 0xff9b) return g2 === 0 ? isPrivateV4(low) : true; // NAT64; 64:ff9b:1::/48 is local use
  if (g0 === 0x2002) return isPrivateV4(((g1 << 16) | g2) >>> 0); // 6to4
  if (g0 === 0x2001 && g1 === 0) return true; // Teredo
  if (g0 === 0x2001 && g1 === 0xdb8) return true; // documentation
  if (g0 === 0x100 && g1 === 0 && g2 === 0 && g3 === 0) return true; // discard
  if ((g0 & 0xfe00) === 0xfc00) return true; // unique local
  if ((g0 & 0xffc0) === 0xfe80 || (g0 & 0xffc0) === 0xfec0) return true; // link-local, site-local
  return (g0 & 0xff00) === 0xff00; // multicast
}

function parseV4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  const parts = match.slice(1).map(Number);
  if (parts.some((part) => part > 255)) return undefined;
  return parts.reduce((sum, part) => ((sum << 8) | part) >>> 0, 0);
}

function parseV6(text: string): number[] | undefined {
  let source = text.split('%')[0] as string;
  if (!source.includes(':')) return undefined;
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(source);
  if (tail) {
    const v4 = parseV4(tail[2] as string);
    if (v4 === undefined) return undefined;
    source = `${tail[1]}${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`;
  }
  const halves = source.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] as string);
  const rest = halves.length === 2 ? groupsOf(halves[1] as string) : [];
  if (!head || !rest) return undefined;
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...rest];
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? groups.map((group) => Number.parseInt(group, 16)) : undefined;
}

import { BlockList, isIP } from 'node:net';

/** Compiled list of addresses and networks; v4 addresses written inside v6 are compared as the v4 addresses they are. */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) addEntry(list, entry);
  return (address) => {
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** An entry that is no address or network matches nothing; the management API has refused it before. */
function addEntry(list: BlockList, entry: string): void {
  const [address = '', length] = entry.trim().split('/');
  const family = isIP(address);
  if (family === 0) return;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (length === undefined) list.addAddress(plainAddress(address), isIP(plainAddress(address)) === 6 ? 'ipv6' : 'ipv4');
  else if (/^\d{1,3}$/.test(length) && Number(length) <= (family === 6 ? 128 : 32)) list.addSubnet(address, Number(length), type);
}

export function isNetwork(entry: string): boolean {
  const [address = '', length, ...rest] = entry.trim().split('/');
  const family = isIP(address);
  return (
    family !== 0 && rest.length === 0 && (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 6 ? 128 : 32)))
  );
}

export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** Truncates IPv4 addresses to /24 and IPv6 addresses to /48. Undefined for anything that is no address. */
export function truncateIp(address: string): string | undefined {
  const text = address.trim();
  const v4 = parseV4(text);
  if (v4 !== undefined) return `${v4[0]}.${v4[1]}.${v4[2]}.0`;
  const zone = text.indexOf('%');
  const groups = parseV6(zone < 0 ? text : text.slice(0, zone));
  if (groups === undefined) return undefined;
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  const [high = 0, low = 0] = groups.slice(6);
  if (mapped) return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.0`;
  return formatPrefix(groups.slice(0, 3));
}

function parseV4(text: string): number[] | undefined {
  if (text.length > 15) return undefined;
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const numbers: number[] = [];
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined;
    numbers.push(Number(part));
  }
  return numbers;
}

function parseV6(text: string): number[] | undefined {
  if (text.length > 45 || !text.includes(':')) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [first = '', second = ''] = halves;
  const head = parseGroups(first);
  const tail = parseGroups(second);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1) return missing === 0 ? head : undefined;
  return missing < 1 ? undefined : [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const out: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part);
      if (v4 === undefined) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = v4;
      out.push((a << 8) | b, (c << 8) | d);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      out.push(Number.parseInt(part, 16));
    }
  }
  return out;
}

function formatPrefix(groups: number[]): string {
  while (groups.length > 0 && groups.at(-1) === 0) groups.pop();
  return `${groups.map((group) => group.toString(16)).join(':')}::`;
}

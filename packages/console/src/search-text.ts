/** The search of an address as texts. The router's own reading makes numbers: of `user=12345678901234567890` it keeps 17 digits. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, QUOTED.exec(value)?.[1] ?? value]));
}
export function stringifySearch(search: Record<string, unknown>): string {
  const texts = Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, quoted(String(value))]]));
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}
/** Links made by 0.2.0 hold `user="1234"`. A text that has quotes itself gets two more. */
const QUOTED = /^"(.*)"$/s;
const quoted = (value: string): string => (QUOTED.test(value) ? `"${value}"` : value);

/**
 * Some providers' ids are integers beyond what a JavaScript number holds: rounding would turn one customer's id into
 * another's. Such an integer becomes text, digit for digit; all others stay numbers.
 */
const LONG = /[1-9]\d{15}/;
const INTEGER = /^-?\d+$/;

export function withExactIntegers(text: string, parsed: unknown): unknown {
  return LONG.test(text) ? JSON.parse(text, keepDigits) : parsed;
}
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && INTEGER.test(source) ? source : value;
}

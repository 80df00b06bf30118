import { isObject } from '../json.ts';
import type { ConfigFault } from './compiled.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FORBIDDEN = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

export function headerNameFault(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a valid header name';
  if (FORBIDDEN.has(name.toLowerCase())) return `the header ${name} may not be set`;
  return undefined;
}

export function headerValueFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (/[\r\n\0]/.test(value)) return 'must not contain line breaks';
  // Headers are Latin-1 on the wire. The HTTP client would reject anything else when it sends the request.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(unmasked(value))) return 'must contain only printable characters';
  return undefined;
}

/** A config that was read back contains masks. Their dots are not valid in a header, but the preview must still work. */
export function unmasked(value: string): string {
  return value.replaceAll('•', '*');
}

/** Headers as an object of strings, or as its JSON text (config fields and pipeline parameters are texts). */
export function readHeaders(value: unknown, where: string): { headers: Record<string, string>; faults: ConfigFault[] } {
  const source = typeof value === 'string' ? parseObject(value) : value;
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  if (!isObject(source)) return { headers, faults: [{ field: where, message: 'must be an object of header names and values' }] };
  const faults: ConfigFault[] = [];
  for (const [name, text] of Object.entries(source)) {
    const fault = headerNameFault(name) ?? headerValueFault(text);
    if (fault) faults.push({ field: `${where}.${name}`, message: fault });
    else headers[name] = unmasked(text as string);
  }
  return { headers, faults };
}

function parseObject(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sets a header and removes an earlier one with the same name in another case. */
export function setHeader(headers: Record<string, string>, name: string, value: string): void {
  for (const key in headers)
    if (key !== name && key.length === name.length && key.toLowerCase() === name.toLowerCase()) delete headers[key];
  headers[name] = value;
}

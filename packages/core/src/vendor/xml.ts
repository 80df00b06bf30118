/** Payloads as XML elements: `@name` is an attribute, `#text` the text of an element, a list repeats its element. */
import { isObject } from '../json.ts';

const MAX_DEPTH = 100;
/** Characters that XML 1.0 cannot contain, not even escaped. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;

export function xmlElement(name: string, value: unknown, depth = 0): string {
  // A key that is not an XML name would break the document, or inject markup into it.
  if (!NAME.test(name) || depth > MAX_DEPTH || value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => xmlElement(name, one, depth + 1)).join('');
  if (!isObject(value)) return `<${name}>${xmlText(value)}</${name}>`;
  let attributes = '';
  let content = '';
  for (const [key, inner] of Object.entries(value)) {
    if (key === '#text') content += xmlText(inner);
    else if (key.startsWith('@')) attributes += xmlAttribute(key.slice(1), inner);
    else content += xmlElement(key, inner, depth + 1);
  }
  return `<${name}${attributes}>${content}</${name}>`;
}

/** The elements of an object without an element around them. */
export function xmlContent(value: unknown): string {
  if (!isObject(value)) return value === undefined || value === null ? '' : xmlText(value);
  return Object.entries(value)
    .map(([key, inner]) => (key === '#text' ? xmlText(inner) : xmlElement(key, inner, 1)))
    .join('');
}

export function xmlAttribute(name: string, value: unknown): string {
  return NAME.test(name) && value !== undefined && value !== null ? ` ${name}="${xmlText(value)}"` : '';
}

function xmlText(value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text
    .toWellFormed()
    .replace(FORBIDDEN, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}

import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

const RESERVED_PREFIX = /^(?:_|firebase_|ga_|google_|gtag\.)+/i;

export const ga4Name = defineTransform({
  name: 'ga4_name',
  summary:
    'An event or parameter name that Google Analytics 4 takes: letters, digits and underscores, a letter first, no reserved prefix, at most 40 characters.',
  args: [{ name: 'length', type: 'number', default: 40, summary: 'longest name' }],
  cost: { value: 200, character: 16 },
  examples: [
    ['Video Played', 'Video_Played'],
    ['2nd step', 'e_2nd_step'],
    ['ga_session', 'session'],
    ['x'.repeat(50), 'x'.repeat(40)],
    ['😀', undefined],
  ],
  apply: (value, [length]) => ga4NameOf(textOf(value), typeof length === 'number' ? length : 40),
});

export function ga4NameOf(text: string | undefined, length: number): string | undefined {
  const name = text
    ?.trim()
    .replace(RESERVED_PREFIX, '')
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^_+|(?<!_)_+$/g, '');
  if (!name) return undefined;
  return (/^[A-Za-z]/.test(name) ? name : `e_${name}`).slice(0, length);
}

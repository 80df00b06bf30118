import { defineTransform } from './define.ts';
import { asNumber, isoMillis, textOf } from './values.ts';

/** `fb.<subdomains>.<milliseconds>.<fbclid>`, to which Meta's parameter builder appends a part of its own. */
const FBC = /^fb\.\d\.\d+\.([^.]+)/;

export const fbcFromClickId = defineTransform({
  name: 'fbc_from_click_id',
  summary:
    'Meta\'s `fbc` from a `fbclid`: `fb.1.<milliseconds>.<fbclid>`. The time is when the click was seen, normally `{"source": "timestamp"}`. A finished fbc passes, and the `_fbc` cookie of the same click is taken as it is; the cookie of another click is older, as Meta says.',
  args: [
    { name: 'time', type: 'string', summary: 'ISO 8601 with a zone, or milliseconds since 1970' },
    { name: 'cookie', type: 'string', default: '', summary: 'normally `{"source": "context.vendor_ids.fbc"}`' },
  ],
  cost: { value: 600, character: 16 },
  examples: [
    ['IwAR2F', 'fb.1.1714564800000.IwAR2F', '2024-05-01T12:00:00Z'],
    ['fb.1.1714564800000.IwAR2F', 'fb.1.1714564800000.IwAR2F', '2024-05-01T12:00:00Z'],
    ['IwAR2F', 'fb.1.1700000000000.IwAR2F.Bg', '2024-05-01T12:00:00Z', 'fb.1.1700000000000.IwAR2F.Bg'],
    ['IwAR2F', 'fb.1.1714564800000.IwAR2F', '2024-05-01T12:00:00Z', 'fb.1.1700000000000.IwAR1'],
    ['IwAR2F', undefined, 'never'],
  ],
  apply(value, [time, cookie]) {
    const text = textOf(value)?.trim();
    if (!text) return undefined;
    if (FBC.test(text)) return text;
    const known = textOf(cookie)?.trim() ?? '';
    if (FBC.exec(known)?.[1] === text) return known;
    const ms = isoMillis(time) ?? asNumber(time);
    return ms === undefined ? undefined : `fb.1.${ms}.${text}`;
  },
});

import { defineTransform } from './define.ts';
import { asNumber, isoMillis, textOf } from './values.ts';

export const fbcFromClickId = defineTransform({
  name: 'fbc_from_click_id',
  summary:
    'Meta\'s `fbc` from a `fbclid`: `fb.1.<milliseconds>.<fbclid>`. The time is when the click was seen, normally `{"source": "timestamp"}`. A finished fbc passes.',
  args: [{ name: 'time', type: 'string', summary: 'ISO 8601 with a zone, or milliseconds since 1970' }],
  cost: { value: 600, character: 16 },
  examples: [
    ['IwAR2F', 'fb.1.1714564800000.IwAR2F', '2024-05-01T12:00:00Z'],
    ['fb.1.1714564800000.IwAR2F', 'fb.1.1714564800000.IwAR2F', '2024-05-01T12:00:00Z'],
    ['IwAR2F', undefined, 'never'],
  ],
  apply(value, [time]) {
    const text = textOf(value)?.trim();
    if (!text) return undefined;
    if (/^fb\.\d\.\d+\./.test(text)) return text;
    const ms = isoMillis(time) ?? asNumber(time);
    return ms === undefined ? undefined : `fb.1.${ms}.${text}`;
  },
});

/**
 * Every detector is linear: twice the text costs at most 2.3 times the work. Work is counted in characters read, which a busy
 * machine does not change. The text is a String object whose methods count what they read.
 */
import { describe, expect, test } from 'vitest';
import { attributionOf } from '../context/campaign.ts';
import { parseUserAgent } from '../context/user-agent.ts';
import { ga4NameOf } from '../transforms/ga4-name.ts';
import { snake } from '../transforms/snake-case.ts';
import { toIdentifier } from '../vendor/limits.ts';
import { findPii } from './detect.ts';
import type { PiiKind } from './detector.ts';
import { truncateIp } from './ip.ts';
import { compileUrlParams } from './url-params.ts';

class CountedText extends String {
  work = 0;
  override charCodeAt(index: number): number {
    this.work += 1;
    return super.charCodeAt(index);
  }
  override slice(start?: number, end?: number): string {
    const part = super.slice(start, end);
    this.work += part.length;
    return part;
  }
  override indexOf(wanted: string, from = 0): number {
    const found = super.indexOf(wanted, from);
    this.work += (found < 0 ? this.length : found) - from;
    return found;
  }
  override includes(wanted: string, from = 0): boolean {
    return this.indexOf(wanted, from) >= 0;
  }
}

const found = (kind: PiiKind) => (text: string) => findPii(text, new Set([kind]), { country: 'US' });
const removeParams = compileUrlParams(['email', 'a', '%'])!;
const DETECTORS: Record<string, (text: string) => unknown> = {
  email: found('email'),
  phone: found('phone'),
  card: found('card'),
  iban: found('iban'),
  url_params: (text) => removeParams(text),
  user_agent: (text) => parseUserAgent(text),
  campaign: (text) => attributionOf(text),
};
const ALPHABETS = [
  ...['a', '@', 'a@', '%40', 'a%40', 'a@b.c', 'a@b.co ', '@a.', 'é@', 'a.', '.', '%'],
  ...['1 ', '4 ', '1.', '1-', '4', '12 ', '+', '+1', '+1 ', '(1) ', '(12) ', '(415) 555-2671 ', '+49 151 23456789 '],
  ...['4111 1111 1111 1111 ', '4111 1111 1111 1112 ', 'DE89 ', 'DE1', 'DE11a', 'DE89 3704 0044 0532 0130 00 '],
  ...['?', '=', '?a=1', '?a=1&', '#a=1#', '?a=', '&a=%41', '?b=1&', '?utm_source=', '&', '&='],
];
const SIZE = 4_000;

function work(detect: (text: string) => unknown, unit: string, size: number): number {
  const text = new CountedText(unit.repeat(Math.ceil(size / unit.length)));
  // A String object stands in for the primitive: the detectors use nothing of it but the methods above and its characters.
  detect(text as unknown as string);
  return text.work;
}

describe.each(Object.keys(DETECTORS))('%s', (name) => {
  const detect = DETECTORS[name]!;
  test.each(ALPHABETS)('%j', (unit) => {
    const once = work(detect, unit, SIZE);
    expect(work(detect, unit, 2 * SIZE)).toBeLessThanOrEqual(2.3 * once + 100);
    // Linear with a small factor: a megabyte must stay far from the 50 ms that one turn of the event loop may take per window.
    expect(once).toBeLessThanOrEqual(100 * SIZE);
  });
});

test('an address or a key of 900,000 hostile characters is read once: it held the service for minutes', () => {
  const many = 900_000;
  expect(truncateIp(`${'%'.repeat(many)}\nx`)).toBeUndefined();
  expect(ga4NameOf(`a${'_'.repeat(many)}b`, 40)).toBe(`a${'_'.repeat(39)}`);
  expect(snake(`a${'-'.repeat(many)}b`)).toBe('a_b');
  expect(toIdentifier(`a${'_'.repeat(many)}b`)).toHaveLength(many + 2);
  expect(toIdentifier(`1${'_'.repeat(many)}b`)).toHaveLength(many + 4);
});

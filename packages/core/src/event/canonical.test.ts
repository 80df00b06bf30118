import { expect, test } from 'vitest';
import { type CanonicalEvent, findByEventKey, isNamedIn } from './canonical.ts';

const page = { type: 'page' } as const;
const screen = { type: 'page', original_type: 'screen' } as const;
const alias = { type: 'identify', original_type: 'alias' } as const;
type Keyed = Pick<CanonicalEvent, 'type' | 'event' | 'original_type'>;

const CASES: [event: Keyed, names: string[], found: string | undefined][] = [
  [screen, ['@page', '@screen'], '@screen'],
  [screen, ['@page'], '@page'],
  [page, ['@screen'], undefined],
  [page, ['@page', '@screen'], '@page'],
  [alias, ['@identify', '@alias'], '@alias'],
  [alias, ['@identify'], '@identify'],
  ...['@page', '@screen', '@identify', '@alias', '@group', ' @Page'].map((event): (typeof CASES)[number] => [
    { type: 'track', event },
    ['@page', '@screen', '@identify', '@alias', '@group', ' @Page'],
    undefined,
  ]),
  [{ type: 'track', event: '@mention' }, ['@mention', '@page'], '@mention'],
  [{ type: 'track', event: 'X' }, ['@screen', '@page'], undefined],
];
test.each(CASES)('%j among %j finds %s', (event, names, found) => {
  expect(findByEventKey(new Map(names.map((name) => [name, name])), event)).toBe(found);
  expect(isNamedIn(new Set(names), event)).toBe(found !== undefined);
});

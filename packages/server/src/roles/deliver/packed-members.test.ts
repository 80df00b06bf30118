import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packMembers, unpackMembers } from './packed-members.ts';

const key = (topic: string, position: number) => topic + String(position).padStart(16, '0');

test('ten thousand consecutive events take a few bytes', () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => key('e', 41 + i));
  expect(packMembers(keys)).toBe('e41 1x9999');
  expect(unpackMembers('e41 1x9999')).toEqual(keys);
});

test('any members in any order come back as they were', () => {
  const usual = fc.tuple(fc.constantFrom('e', 'r'), fc.nat({ max: 1_000_000 })).map(([topic, position]) => key(topic, position));
  const any = fc.array(fc.oneof(usual, fc.string()), { minLength: 1 });
  fc.assert(
    fc.property(fc.oneof(fc.array(usual, { minLength: 1 }), any), (keys) => {
      expect(unpackMembers(packMembers(keys))).toEqual(keys);
    }),
  );
});

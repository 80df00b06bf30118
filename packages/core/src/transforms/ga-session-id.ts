import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

const COOKIE = /^(?:GS1\.\d+\.(\d+)\.|GS2\.\d+\.(?:.*\$)?s(\d+)(?:\$|$)|(\d+)$)/;

export const gaSessionId = defineTransform({
  name: 'ga_session_id',
  summary: 'The session id out of a `_ga_<stream>` cookie, old (GS1) and new (GS2) form.',
  cost: { value: 600, character: 16 },
  examples: [
    ['GS1.1.1700000000.3.1.1700000100.0.0.0', '1700000000'],
    ['GS2.1.s1700000000$o3$g1$t1700000100', '1700000000'],
    [1700000000, '1700000000'],
    ['x', undefined],
  ],
  apply(value) {
    const match = COOKIE.exec(textOf(value)?.trim() ?? '');
    return match?.[1] ?? match?.[2] ?? match?.[3];
  },
});

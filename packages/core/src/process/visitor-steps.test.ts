import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { Decision } from '../outcome/outcome.ts';
import { applyIdentity } from './identity.ts';
import { applySession } from './session.ts';
import { hasOutlived, type VisitorState, worthSaving } from './visitor.ts';

const MINUTE = 60_000;
function event(over: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { event_id: 'e1', type: 'track', event: 'T', timestamp: '', context: {}, ...over };
}

describe('sessions', () => {
  const at = (received_at: number) => ({ visitor_id: 'v1', org_id: 'org_1', received_at });
  function walk(times: number[], timeoutMs = 30 * MINUTE) {
    let state: VisitorState = {};
    return times.map((time, i) => {
      const one = event({ event_id: `e${i}` });
      state = applySession(one, at(time), timeoutMs, state, []);
      return one.context.session as { id: string; is_new: boolean };
    });
  }
  const cases: [name: string, times: number[], sessions: number[], timeout?: number][] = [
    ['one visit', [0, 1 * MINUTE, 30 * MINUTE, 60 * MINUTE], [0, 0, 0, 0]],
    ['a pause longer than the timeout', [0, 30 * MINUTE + 1], [0, 1]],
    ['a pause of exactly the timeout', [0, 30 * MINUTE], [0, 0]],
    ['three visits', [0, 40 * MINUTE, 41 * MINUTE, 80 * MINUTE], [0, 1, 1, 2]],
    ['a shorter timeout', [0, 2 * MINUTE], [0, 1], MINUTE],
    ['an older event (a replay) belongs to the present session', [100 * MINUTE, 10 * MINUTE, 130 * MINUTE], [0, 0, 0]],
  ];
  test.each(cases)('%s', (_name, times, expected, timeout) => {
    const sessions = walk(times, timeout);
    const ids = [...new Set(sessions.map((session) => session.id))];
    expect(sessions.map((session) => ids.indexOf(session.id))).toEqual(expected);
    expect(sessions.map((session) => session.is_new)).toEqual(expected.map((id, i) => expected.indexOf(id) === i));
  });

  test('processing an event again gives the same session, still new', () => {
    const first = event();
    const state = applySession(first, at(5), MINUTE, {}, []);
    const again = event();
    applySession(again, at(5), MINUTE, state, []);
    expect(again.context).toEqual(first.context);
    const other = event({ event_id: 'e2' });
    applySession(other, at(5), MINUTE, state, []);
    expect(other.context.session).toMatchObject({ is_new: false });
  });
});

describe('identity', () => {
  const identify = (user_id: string, traits?: CanonicalEvent['traits']) => event({ type: 'identify', user_id, ...(traits && { traits }) });
  type Expected = { [Field in keyof CanonicalEvent]?: CanonicalEvent[Field] | undefined };
  const cases: [name: string, remember: string[], events: CanonicalEvent[], last: Expected, state: VisitorState][] = [
    ['before an identify nothing is known', [], [event()], { user_id: undefined }, {}],
    ['later events carry both ids', [], [identify('u1'), event()], { user_id: 'u1' }, { user_id: 'u1' }],
    [
      'an event’s own user wins, and links nothing',
      [],
      [identify('u1'), event({ user_id: 'u9' }), event()],
      { user_id: 'u1' },
      { user_id: 'u1' },
    ],
    ['the latest identify wins', [], [identify('u1'), identify('u2'), event()], { user_id: 'u2' }, { user_id: 'u2' }],
    ['a track event with a user links nothing', [], [event({ user_id: 'u1' }), event()], { user_id: undefined }, {}],
    ['traits are not remembered by default', [], [identify('u1', { email: 'a' }), event()], { traits: undefined }, { user_id: 'u1' }],
    [
      'named traits are',
      ['email', 'plan'],
      [identify('u1', { email: 'a', age: 1 }), event()],
      { traits: { email: 'a' } },
      { user_id: 'u1', traits: { email: 'a' } },
    ],
    [
      'an event’s own traits win',
      ['email', 'plan'],
      [identify('u1', { email: 'a', plan: 'p' }), event({ traits: { email: 'b' } })],
      { traits: { email: 'b', plan: 'p' } },
      { user_id: 'u1', traits: { email: 'a', plan: 'p' } },
    ],
    [
      'later identifies add',
      ['email', 'plan'],
      [identify('u1', { email: 'a' }), identify('u1', { plan: 'p' }), event()],
      { traits: { email: 'a', plan: 'p' } },
      { user_id: 'u1', traits: { email: 'a', plan: 'p' } },
    ],
    [
      'another user takes nothing over',
      ['email'],
      [identify('u1', { email: 'a' }), identify('u2'), event()],
      { user_id: 'u2', traits: undefined },
      { user_id: 'u2' },
    ],
    [
      'another user’s event gets nothing',
      ['email'],
      [identify('u1', { email: 'a' }), event({ user_id: 'u9' })],
      { user_id: 'u9', traits: undefined },
      { user_id: 'u1', traits: { email: 'a' } },
    ],
    [
      'a group’s traits are the group’s',
      ['email'],
      [identify('u1', { email: 'a' }), event({ type: 'group', traits: { name: 'G' } })],
      { user_id: 'u1', traits: { name: 'G' } },
      { user_id: 'u1', traits: { email: 'a' } },
    ],
    [
      'a trait that is too long is forgotten, and not remembered',
      ['email', 'about', 'list'],
      [
        identify('u1', { email: 'a', about: 'short', list: [1] }),
        identify('u1', { email: 'b', about: 'x'.repeat(2_000), list: Array.from({ length: 600 }, () => 1) }),
        event(),
      ],
      { traits: { email: 'b' } },
      { user_id: 'u1', traits: { email: 'b' } },
    ],
    ['a trait no longer named is not added', [], [event()], { traits: undefined }, {}],
    [
      'names that would reach a prototype',
      ['__proto__'],
      [identify('u1', JSON.parse('{"__proto__":{"polluted":1}}')), event()],
      { user_id: 'u1' },
      { user_id: 'u1', traits: JSON.parse('{"__proto__":{"polluted":1}}') },
    ],
  ];
  test('a state with all that can be remembered fits into a message of NATS', () => {
    const names = Array.from({ length: 50 }, (_, at) => `${at}`.padEnd(200, '世'));
    const traits = Object.fromEntries(names.map((name) => [name, '\u0001'.repeat(1_990)]));
    const state = applyIdentity(identify('u'.repeat(1_024), traits), names, {}, []);
    expect(Object.keys(state.traits ?? {})).toEqual(names);
    expect(new TextEncoder().encode(JSON.stringify(state)).length).toBeLessThan(1_000_000);
  });
  test.each(cases)('%s', (_name, remember, events, last, expected) => {
    let state: VisitorState = {};
    for (const one of events) {
      const before = JSON.stringify(state);
      const next = applyIdentity(one, remember, state, []);
      expect(JSON.stringify(state)).toBe(before); // a state is never written to
      state = next;
    }
    for (const key of Object.keys(last) as (keyof CanonicalEvent)[]) expect(events.at(-1)![key]).toEqual(last[key]);
    expect(state).toEqual(expected);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('what happened is told', () => {
    const decisions: Decision[] = [];
    const state = applyIdentity(identify('u1', { email: 'a' }), ['email'], {}, decisions);
    applyIdentity(event(), ['email'], state, decisions);
    applyIdentity(identify('u1', { email: 'a' }), ['email'], state, decisions);
    applyIdentity(identify('u1', { email: 'x'.repeat(2_000) }), ['email'], state, decisions);
    expect(decisions).toEqual([
      { step: 'identity', result: 'linked' },
      { step: 'identity', result: 'recognised', changed: ['user_id', 'traits.email'] },
      { step: 'identity', result: 'recognised', detail: 'too long to be remembered: traits.email' },
    ]);
  });
});

test('a continuing session is not saved with every event', () => {
  const TIMEOUT = 1_800_000;
  const session = { id: 's', started_at: 0, last_at: 0 };
  const saved: VisitorState = { user_id: 'u', session };
  const later = (ms: number): VisitorState => ({ ...saved, session: { ...session, last_at: ms } });
  expect(worthSaving(saved, saved, TIMEOUT)).toBe(false);
  expect(worthSaving(saved, later(59_999), TIMEOUT)).toBe(false);
  expect(worthSaving(saved, later(60_000), TIMEOUT)).toBe(true);
  expect(worthSaving(saved, later(59_999), 24 * TIMEOUT)).toBe(false);
  expect(worthSaving(saved, later(60_000), 24 * TIMEOUT)).toBe(true);
  expect(worthSaving(saved, later(9_999), TIMEOUT / 6)).toBe(false);
  expect(worthSaving(saved, later(10_000), TIMEOUT / 6)).toBe(true);
  expect(worthSaving(saved, { ...later(1), user_id: 'w' }, TIMEOUT)).toBe(true);
  expect(worthSaving(saved, { ...later(1), traits: {} }, TIMEOUT)).toBe(true);
  expect(worthSaving(saved, { ...saved, session: { ...session, id: 't' } }, TIMEOUT)).toBe(true);
  expect(worthSaving({}, saved, TIMEOUT)).toBe(true);
});

describe('how long a visitor is remembered', () => {
  const day = 86_400_000;
  test.each<[string, VisitorState, number, boolean]>([
    ['nothing known', {}, 1_000, false],
    ['a session of yesterday', { session: { id: 's', started_at: 0, last_at: 0 } }, 1, false],
    ['a session of two days and more ago', { session: { id: 's', started_at: 0, last_at: 0 } }, 2.1, true],
    ['a link of last year', { user_id: 'u', session: { id: 's', started_at: 0, last_at: 0 } }, 399, false],
    ['a link that no browser remembers', { user_id: 'u', session: { id: 's', started_at: 0, last_at: 0 } }, 401, true],
  ])('%s', (_name, state, days, outlived) => expect(hasOutlived(state, days * day)).toBe(outlived));
});

/**
 * Step 6: an identify links the anonymous id to the user across the organisation, and later events carry both. An event's own user id
 * takes precedence over the link. The latest identify wins.
 */
import { setOwn } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import { weigh } from '../value-size.ts';
import type { VisitorState } from './visitor.ts';

/**
 * Longer values are not remembered: each later event of the visitor would carry them, and a store may refuse the visitor. All 50 traits
 * together are far below the 1 MB that NATS takes.
 */
const MAX_TRAIT = 2_000;

export function applyIdentity(
  event: CanonicalEvent,
  rememberTraits: readonly string[],
  state: VisitorState,
  decisions: Decision[],
): VisitorState {
  const tooLong: string[] = [];
  const identified =
    event.type === 'identify' && event.user_id !== undefined ? link(event, event.user_id, rememberTraits, state, tooLong) : state;
  const changed: string[] = [];
  if (event.user_id === undefined && identified.user_id !== undefined) {
    event.user_id = identified.user_id;
    changed.push('user_id');
  }
  // A group event's traits belong to the group. Events of another user must not get this user's traits.
  if (identified.traits !== undefined && event.type !== 'group' && event.user_id === identified.user_id) {
    addTraits(event, identified.traits as JsonObject, rememberTraits, changed);
  }
  const isLinked = identified.user_id !== state.user_id;
  const detail = tooLong.length === 0 ? undefined : `too long to be remembered: ${tooLong.join(', ')}`;
  if (isLinked || changed.length > 0 || detail !== undefined)
    decisions.push({
      step: 'identity',
      result: isLinked ? 'linked' : 'recognised',
      ...(changed.length > 0 && { changed }),
      ...(detail !== undefined && { detail }),
    });
  return identified;
}

function link(
  event: CanonicalEvent,
  userId: string,
  rememberTraits: readonly string[],
  state: VisitorState,
  tooLong: string[],
): VisitorState {
  const kept = state.user_id === userId ? (state.traits as JsonObject | undefined) : undefined;
  let traits = kept;
  if (rememberTraits.length > 0 && isObject(event.traits)) {
    for (const name of rememberTraits) {
      if (!Object.hasOwn(event.traits, name)) continue;
      const value = event.traits[name] as Json;
      if (weigh(value, MAX_TRAIT) > MAX_TRAIT) {
        tooLong.push(`traits.${name}`);
        // An earlier value is no longer theirs.
        if (traits !== undefined && Object.hasOwn(traits, name)) {
          if (traits === kept) traits = { ...kept };
          delete traits[name];
        }
        continue;
      }
      if (traits !== undefined && Object.hasOwn(traits, name) && traits[name] === value) continue;
      if (traits === kept) traits = { ...kept };
      setOwn(traits as JsonObject, name, value);
    }
  }
  if (state.user_id === userId && traits === state.traits) return state;
  const { traits: _old, ...rest } = state;
  return { ...rest, user_id: userId, ...(traits !== undefined && { traits }) };
}

function addTraits(event: CanonicalEvent, remembered: JsonObject, rememberTraits: readonly string[], changed: string[]): void {
  for (const name of rememberTraits) {
    if (!Object.hasOwn(remembered, name)) continue;
    event.traits ??= {};
    if (Object.hasOwn(event.traits, name)) continue;
    setOwn(event.traits, name, remembered[name] as Json);
    changed.push(`traits.${name}`);
  }
}

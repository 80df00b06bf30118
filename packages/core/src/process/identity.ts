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
 * Roughly the characters of its JSON text. A visitor's state is one message of the log, of at most 1 MB: a larger state could never be stored,
 * and would hold up all events of its partition.
 */
const MAX_REMEMBERED = 2_000;

export function applyIdentity(
  event: CanonicalEvent,
  rememberTraits: readonly string[],
  state: VisitorState,
  decisions: Decision[],
): VisitorState {
  const identified = event.type === 'identify' && event.user_id !== undefined ? link(event, event.user_id, rememberTraits, state) : state;
  const changed: string[] = [];
  if (event.user_id === undefined && identified.user_id !== undefined) {
    event.user_id = identified.user_id;
    changed.push('user_id');
  }
  // A group event's traits belong to the group. Events of another user must not get this user's traits.
  if (identified.traits !== undefined && event.type !== 'group' && event.user_id === identified.user_id) {
    addTraits(event, identified.traits as JsonObject, rememberTraits, changed);
  }
  if (identified !== state && identified.user_id !== state.user_id)
    decisions.push({ step: 'identity', result: 'linked', ...(changed.length > 0 && { changed }) });
  else if (changed.length > 0) decisions.push({ step: 'identity', result: 'recognised', changed });
  return identified;
}

function link(event: CanonicalEvent, userId: string, rememberTraits: readonly string[], state: VisitorState): VisitorState {
  const kept = state.user_id === userId ? (state.traits as JsonObject | undefined) : undefined;
  let traits = kept;
  if (rememberTraits.length > 0 && isObject(event.traits)) {
    for (const name of rememberTraits) {
      if (!Object.hasOwn(event.traits, name)) continue;
      const value = event.traits[name] as Json;
      if (traits !== undefined && Object.hasOwn(traits, name) && traits[name] === value) continue;
      if (weigh(value, MAX_REMEMBERED) > MAX_REMEMBERED) continue;
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

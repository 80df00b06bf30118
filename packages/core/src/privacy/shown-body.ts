/**
 * What a client sent, for people to look at: without what it proved itself with, and under the privacy rules that the event
 * itself went through. What they removed from the event must not be readable beside it.
 */
import type { CanonicalEvent } from '../event/canonical.ts';
import { isObject, type Json, type JsonObject, own } from '../json.ts';
import { applyPii, type CompiledPii } from './pii.ts';

/** Fields of a body that go by another name in the event. */
const RENAMED = { userId: 'user_id', anonymousId: 'anonymous_id', groupId: 'group_id' } as const;
/** Fields that rules reach under the name they have. */
const SAME = ['event', 'name', 'properties', 'traits'] as const;
/** Fields that rules have no name for and that say nothing of a person. Any other is left out where there are rules. */
const HARMLESS = ['type', 'messageId', 'timestamp', 'sentAt'] as const;

/** Uses the body up. */
export function shownBody(body: unknown, pii: CompiledPii): JsonObject | null {
  if (!isObject(body)) return null;
  const { writeKey: _key, ...sent } = body as JsonObject;
  const context = own(sent, 'context');
  if (isObject(context)) delete (context as JsonObject).challenge_token;
  return asksNothing(pii) ? sent : underRules(sent, isObject(context) ? (context as JsonObject) : undefined, pii);
}

function asksNothing({ ip, fields, detect, url_params }: CompiledPii): boolean {
  return ip === 'keep' && fields.length === 0 && detect.size === 0 && url_params === undefined;
}

/** The rules are written for the event: the body is given its shape and, after they have run, its own back. */
function underRules(sent: JsonObject, context: JsonObject | undefined, pii: CompiledPii): JsonObject {
  const event: CanonicalEvent & JsonObject = { event_id: '', type: 'track', timestamp: '', context: { ...context } };
  const movedTraits = own(sent, 'traits') === undefined && isObject(event.context.traits);
  if (movedTraits) {
    event.traits = event.context.traits as JsonObject;
    delete event.context.traits;
  }
  const movedAgent = Object.hasOwn(event.context, 'userAgent') && !Object.hasOwn(event.context, 'user_agent');
  if (movedAgent) rename(event.context, 'userAgent', 'user_agent');
  for (const name of SAME) copy(sent, name, event, name);
  for (const [name, inEvent] of Object.entries(RENAMED)) copy(sent, name, event, inEvent);
  applyPii(event, pii, []);

  const shown: JsonObject = {};
  for (const name of HARMLESS) copy(sent, name, shown, name);
  for (const name of SAME) if (!(movedTraits && name === 'traits')) copy(event, name, shown, name);
  for (const [name, inEvent] of Object.entries(RENAMED)) copy(event, inEvent, shown, name);
  if (movedAgent) rename(event.context, 'user_agent', 'userAgent');
  if (movedTraits) copy(event, 'traits', event.context, 'traits');
  if (context !== undefined) shown.context = event.context;
  return shown;
}

function copy(from: JsonObject, name: string, to: JsonObject, as: string): void {
  const value = own(from, name) as Json | undefined;
  if (value !== undefined && value !== null) to[as] = value;
}
function rename(object: JsonObject, from: string, to: string): void {
  copy(object, from, object, to);
  delete object[from];
}

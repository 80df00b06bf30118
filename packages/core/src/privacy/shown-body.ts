/**
 * A client's body as the debugger and traces show it: without credentials, and under the privacy rules that the event went
 * through. Data that they removed from the event must not be readable next to it.
 */
import type { CanonicalEvent } from '../event/canonical.ts';
import { isObject, type Json, type JsonObject, own } from '../json.ts';
import { finish, type Steps } from '../steps.ts';
import { withoutCredentials } from './credentials.ts';
import { type CompiledPii, hasRules, PiiPass } from './pii.ts';

/** Body fields with another name in the event. */
const RENAMED = { userId: 'user_id', anonymousId: 'anonymous_id', groupId: 'group_id' } as const;
/** Body fields that rules reach under the same name. */
const SAME = ['event', 'name', 'properties', 'traits'] as const;
/** Body fields that no rule can name and that hold no personal data. With rules in force all other fields are left out. */
const HARMLESS = ['type', 'messageId', 'timestamp', 'sentAt'] as const;

/** Changes the body: do not use it afterwards. */
export function shownBody(body: unknown, pii: CompiledPii): JsonObject | null {
  return finish(shownBodyInSteps(body, pii));
}
/** The same, divided: for a body of any size. */
export function* shownBodyInSteps(body: unknown, pii: CompiledPii): Steps<JsonObject | null> {
  if (!isObject(body)) return null;
  const sent = withoutCredentials(body as JsonObject);
  const context = own(sent, 'context');
  return pii.ip === 'keep' && !hasRules(pii) ? sent : yield* underRules(sent, isObject(context) ? (context as JsonObject) : undefined, pii);
}

/** Rules are written for canonical events: the body is moved into that shape and back. */
function* underRules(sent: JsonObject, context: JsonObject | undefined, pii: CompiledPii): Steps<JsonObject> {
  const event: CanonicalEvent & JsonObject = { event_id: '', type: 'track', timestamp: '', context: { ...context } };
  const movedTraits = (own(sent, 'traits') ?? null) === null && isObject(event.context.traits);
  if (movedTraits) {
    event.traits = event.context.traits as JsonObject;
    delete event.context.traits;
  }
  const movedAgent = Object.hasOwn(event.context, 'userAgent') && !Object.hasOwn(event.context, 'user_agent');
  if (movedAgent) rename(event.context, 'userAgent', 'user_agent');
  for (const name of SAME) copy(sent, name, event, name);
  for (const [name, inEvent] of Object.entries(RENAMED)) copy(sent, name, event, inEvent);
  const pass = new PiiPass(event, pii, []);
  while (pass.step()) yield;

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

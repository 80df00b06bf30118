/**
 * The privacy rules on what the visitor steps added after them. It was remembered under earlier rules, perhaps none, or comes from the
 * request's cookies.
 */
import { ownObject, setOwn } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { type Json, type JsonObject, own } from '../json.ts';
import { applyPii, type CompiledPii, hasRules } from './pii.ts';

/** What names a person or a browser, by the beginning of its path. The rest of the path is one key, which may hold any character. */
const PLACES: readonly [prefix: string, ...holder: string[]][] = [
  ['traits.', 'traits'],
  ['context.click_ids.', 'context', 'click_ids'],
  ['context.vendor_ids.', 'context', 'vendor_ids'],
];
const WHOLE: readonly [path: string, ...holder: string[]][] = [
  ['user_id'],
  ['context.group_id', 'context'],
  ['context.campaign_first', 'context'],
];

/** `changed`: the paths that the steps wrote. */
export function applyPiiToAdded(event: CanonicalEvent, changed: readonly string[], pii: CompiledPii): void {
  if (changed.length === 0 || !hasRules(pii)) return;
  const places = changed.flatMap((path) => placeOf(path) ?? []);
  if (places.length === 0) return;
  const { locale, geo } = event.context;
  // Telephone numbers are read as those of the visitor's country.
  const context: JsonObject = { ...(locale !== undefined && { locale }), ...(geo !== undefined && { geo: copyOf(geo) }) };
  const added: CanonicalEvent = { event_id: '', type: event.type, timestamp: '', context };
  for (const { holder, key } of places) {
    const value = own(at(event, holder) ?? {}, key);
    if (value !== undefined) setOwn(made(added, holder), key, copyOf(value as Json));
  }
  applyPii(added, pii, []);
  for (const { holder, key } of places) {
    const value = own(at(added, holder) ?? {}, key);
    const target = at(event, holder);
    if (target === undefined) continue;
    if (value === undefined) delete target[key];
    else setOwn(target, key, value as Json);
    if (holder.length > 0 && holder.at(-1) !== 'context' && Object.keys(target).length === 0) remove(event, holder);
  }
}

interface Place {
  holder: readonly string[];
  key: string;
}
function placeOf(path: string): Place | undefined {
  const whole = WHOLE.find(([name]) => name === path);
  if (whole !== undefined) return { holder: whole.slice(1), key: path.slice(path.lastIndexOf('.') + 1) };
  const within = PLACES.find(([prefix]) => path.startsWith(prefix));
  return within && { holder: within.slice(1), key: path.slice(within[0].length) };
}

function at(event: CanonicalEvent, holder: readonly string[]): JsonObject | undefined {
  // A canonical event is a JSON object. Its type only names the fields.
  let object: JsonObject | undefined = event as unknown as JsonObject;
  for (const name of holder) object = ownObject(object, name);
  return object;
}
function made(event: CanonicalEvent, holder: readonly string[]): JsonObject {
  // As above.
  let object = event as unknown as JsonObject;
  for (const name of holder) object = ownObject(object, name) ?? ((object[name] = {}) as JsonObject);
  return object;
}
function remove(event: CanonicalEvent, holder: readonly string[]): void {
  const parent = at(event, holder.slice(0, -1));
  if (parent !== undefined) delete parent[holder.at(-1) ?? ''];
}

/** Rules change objects in place, and a remembered object belongs to the visitor. */
function copyOf(value: Json): Json {
  return typeof value === 'object' && value !== null ? (JSON.parse(JSON.stringify(value)) as Json) : value;
}

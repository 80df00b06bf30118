/** Keys and challenge tokens in what clients send: neither is kept or shown. */
import { isObject, type JsonObject, own } from '../json.ts';

/** Removes them from an event, or from a batch and each of its events. Changes the body: use the result in its place. */
export function withoutCredentials(body: JsonObject): JsonObject {
  const { writeKey: _key, ...kept } = body;
  const context = own(kept, 'context');
  if (isObject(context)) delete (context as JsonObject).challenge_token;
  const batch = own(kept, 'batch');
  if (isObject(batch)) kept.batch = withoutCredentials(batch as JsonObject);
  else if (Array.isArray(batch)) kept.batch = batch.map((event) => (isObject(event) ? withoutCredentials(event as JsonObject) : event));
  return kept;
}

const IN_TEXT = /"(writeKey|challenge_token)"(\s{0,10}:\s{0,10})"[^"]*("|$)/g;
/** The same in a text that is not JSON, or was cut. */
export function textWithoutCredentials(text: string): string {
  return text.replace(IN_TEXT, '"$1"$2"[removed]$3');
}

/** The API's faults at the fields of a form, in the API's words. */
import { RefusedError } from './api-client.ts';
import { dotted } from './dotted.ts';

/** Faults by field as the API names it. A fault without a field goes to `fallback`. */
export function fieldErrors(error: unknown, fallback: string): Record<string, string> {
  if (!(error instanceof RefusedError)) return { [fallback]: error instanceof Error ? error.message : String(error) };
  if (error.details.length === 0) return { [fallback]: error.message };
  return Object.fromEntries(
    error.details.map(({ field, message }) => [field === '' ? fallback : field, `${message.charAt(0).toUpperCase()}${message.slice(1)}`]),
  );
}
/**
 * Faults by field of a form that has these `fields`. What is wrong inside of a field is said at the field (`labels[2]` at `labels`), and what
 * is wrong with something that the form does not have at `fallback`: no fault is left unsaid.
 */
export function formErrors(error: unknown, fallback: string, fields: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, message] of Object.entries(fieldErrors(error, fallback))) {
    const path = dotted(name);
    const at = fields.find((field) => field === path) ?? fields.find((field) => path.startsWith(`${field}.`)) ?? fallback;
    const text = path === at ? message : `${placeIn(at, path)}: ${message}`;
    found[at] = found[at] === undefined ? text : `${found[at]} ${text}`;
  }
  return found;
}
/** `labels.2` is entry 3 of `labels`. */
function placeIn(field: string, path: string): string {
  const rest = path.startsWith(`${field}.`) ? path.slice(field.length + 1) : path;
  return /^\d+$/.test(rest) ? `Entry ${Number(rest) + 1}` : rest;
}
/** What a failed action says in a notification. The API's message names the first fault. */
export function failureText(error: unknown): string {
  if (error instanceof RefusedError && error.details.length > 1) {
    const others = error.details.slice(1).map(({ field, message }) => `${field}: ${message}`);
    return `${error.message} ${others.join('; ')}`;
  }
  return error instanceof Error ? error.message : String(error);
}

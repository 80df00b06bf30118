/** The API's faults at the fields of a form, in the API's words. */
import { RefusedError } from './api.ts';

/** Faults by field. A fault without a field goes to `fallback`, a fault inside an object to the object's field. */
export function fieldErrors(error: unknown, fallback: string): Record<string, string> {
  if (!(error instanceof RefusedError)) return { [fallback]: error instanceof Error ? error.message : String(error) };
  if (error.details.length === 0) return { [fallback]: error.message };
  return Object.fromEntries(
    error.details.map(({ field, message }) => [
      field === '' ? fallback : field.replace(/^\//, '').replaceAll('/', '.'),
      `${message.charAt(0).toUpperCase()}${message.slice(1)}`,
    ]),
  );
}
/** What a failed action says in a notification. */
export function failureText(error: unknown): string {
  if (error instanceof RefusedError && error.details.length > 0)
    return `${error.message} ${error.details.map(({ field, message }) => `${field}: ${message}`).join('; ')}`;
  return error instanceof Error ? error.message : String(error);
}

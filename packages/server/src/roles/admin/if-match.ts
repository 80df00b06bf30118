/** Optimistic locking: a change that carries `If-Match` is rejected if somebody else changed the resource since it was read. */
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError } from '../../http/errors.ts';

export const ifMatchHeader = (description: string, example: string) =>
  Type.Object({ 'if-match': Type.Optional(Type.String({ description, examples: [example] })) });

/** Call inside the transaction that writes, so that no change fits in between. */
export function requireUnchanged(header: string | undefined, version: string | number, what: string): void {
  if (header === undefined || header.trim() === '*') return;
  if (header.trim().replace(/^W\//, '').replaceAll('"', '') === String(version)) return;
  throw new ApiError('CONFLICT', { message: `${what} is at version ${version}: read it again and repeat your change.` });
}

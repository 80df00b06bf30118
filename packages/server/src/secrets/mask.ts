/**
 * Secrets inside a config: separates them before storage and masks them in responses. `restore-masked.ts` keeps the stored secret when a
 * client sends its mask back. The vendor definition says which fields are secret. All functions are pure.
 */
import { isObject, type Json, type JsonObject } from '@firsthand/core/json.ts';
import { MASK, maskSecret } from '@firsthand/core/vendor/secrets.ts';

export type Path = readonly (string | number)[];
export type IsSecretPath = (path: Path) => boolean;

/** A reference to a parameter of the pipeline or config. It reveals nothing, so it stays readable. */
const PLACEHOLDER = /^\s*\{\{\s*(?:pipeline_param|parameters)\.[^{}]+\}\}\s*$/;

export function maskValue(value: Json): Json {
  if (typeof value === 'string') return isOpen(value) ? value : maskSecret(value);
  return value === null ? null : MASK;
}
/** A mask as a client sends it back. */
export function isMask(value: Json): value is string {
  return typeof value === 'string' && value.startsWith(MASK);
}
/** Empty text or a reference to a parameter: nothing to hide. */
function isOpen(value: Json): boolean {
  return value === null || (typeof value === 'string' && (value === '' || PLACEHOLDER.test(value)));
}

/** A copy with `change` applied to every secret field. */
export function atSecrets(value: Json, isSecret: IsSecretPath, change: (secret: Json, path: Path) => Json, path: Path = []): Json {
  if (path.length > 0 && isSecret(path)) return change(value, path);
  if (Array.isArray(value)) return value.map((item, index) => atSecrets(item, isSecret, change, [...path, index]));
  if (!isObject(value)) return value;
  // Entries, not assignment: a key named __proto__ stays data.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, atSecrets(item, isSecret, change, [...path, key])]));
}

export function maskSecrets(config: JsonObject, isSecret: IsSecretPath): JsonObject {
  return atSecrets(config, isSecret, maskValue) as JsonObject;
}

/** Separates the secrets, which must be sealed, from the rest, which may be stored in the clear. */
export function splitSecrets(config: JsonObject, isSecret: IsSecretPath): { open: JsonObject; secrets: SecretAt[] } {
  const secrets: SecretAt[] = [];
  const open = atSecrets(config, isSecret, (value, path) => {
    if (isOpen(value)) return value;
    secrets.push({ path: [...path], value });
    return null;
  }) as JsonObject;
  return { open, secrets };
}
export interface SecretAt {
  path: (string | number)[];
  value: Json;
}
/** The inverse of `splitSecrets`. */
export function joinSecrets(open: JsonObject, secrets: readonly SecretAt[]): JsonObject {
  const byPath = new Map(secrets.map(({ path, value }) => [JSON.stringify(path), value]));
  return atSecrets(
    open,
    (path) => byPath.has(JSON.stringify(path)),
    (_, path) => byPath.get(JSON.stringify(path)) ?? null,
  ) as JsonObject;
}

/** The field's path as used in faults: `parameters.headers[0]`. */
export function pathText(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
}

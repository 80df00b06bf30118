/**
 * Secrets inside a config: separates them before storage and masks them in responses. `restore-masked.ts` keeps the stored secret when a
 * client sends its mask back. The vendor definition says which fields are secret. All functions are pure.
 */
import { isObject, type Json, type JsonObject, put } from '@firsthand/core/json.ts';
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

/** The topmost secrets in a value, with their paths from there. `at`: the path of the value. */
export function secretsIn(value: Json, isSecret: IsSecretPath, at: Path = [], path: Path = []): { path: Path; value: Json }[] {
  if (isSecret([...at, ...path])) return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => secretsIn(item, isSecret, at, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => secretsIn(item as Json, isSecret, at, [...path, key]));
}

/**
 * A copy with `change` applied at these paths, as far as the value has them. It shares all other parts with the value: of the 20,000 values
 * that a config may have, few are secret.
 */
export function atPaths(value: Json, paths: readonly Path[], change: (found: Json, path: Path) => Json, at: Path = []): Json {
  if (paths.length === 0) return value;
  if (paths.some(({ length }) => length === at.length)) return change(value, at);
  if (typeof value !== 'object' || value === null) return value;
  const from = value as Record<string, unknown>;
  const isList = Array.isArray(value);
  const copy: Json[] | JsonObject = isList ? [...value] : { ...value };
  for (const [key, below] of Map.groupBy(paths, (path) => String(path[at.length]))) {
    // Own and enumerable: not the length of a list.
    if (!Object.prototype.propertyIsEnumerable.call(from, key)) continue;
    put(copy as Record<string, unknown>, key, atPaths(from[key] as Json, below, change, [...at, isList ? Number(key) : key]));
  }
  return copy;
}

export function maskSecrets(config: JsonObject, secrets: readonly Path[]): JsonObject {
  return atPaths(config, secrets, maskValue) as JsonObject;
}

/** Separates the secrets, which must be sealed, from the rest, which may be stored in the clear. */
export function splitSecrets(config: JsonObject, places: readonly Path[]): { open: JsonObject; secrets: SecretAt[] } {
  const secrets: SecretAt[] = [];
  const open = atPaths(config, places, (value, path) => {
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
  const places = secrets.map(({ path }) => path);
  return atPaths(open, places, (_, path) => byPath.get(JSON.stringify(path)) ?? null) as JsonObject;
}

/** The field's path as used in faults: `parameters.headers[0]`. */
export function pathText(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
}

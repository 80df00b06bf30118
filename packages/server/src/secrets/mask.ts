/**
 * Secrets inside a config: separates them before storage and masks them in responses. `restore-masked.ts` keeps the stored secret when a
 * client sends its mask back. The vendor definition says which fields are secret. All functions are pure.
 */
import { type Json, type JsonObject, put } from '@firsthand/core/json.ts';
import { MASK, maskSecret } from '@firsthand/core/vendor/secrets.ts';

export type Path = readonly (string | number)[];
/** Paths as a tree: a value is looked up in all of them at once. */
export interface Places {
  /** A path ends here. */
  ends: boolean;
  below: Map<string, Places>;
}

/** A reference to a parameter of the pipeline or config. It reveals nothing, so it stays readable. */
const PLACEHOLDER = /^\s*\{\{\s*(?:pipeline_param|parameters)\.[^{}]+\}\}\s*$/;

export function maskValue(value: Json): Json {
  if (typeof value === 'string') return isOpen(value) ? value : maskSecret(value);
  if (typeof value === 'number') return maskSecret(String(value));
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

export function placesOf(paths: readonly Path[], depth = 0): Places {
  const ends = paths.some(({ length }) => length === depth);
  const below = ends ? [] : Map.groupBy(paths, (path) => String(path[depth]));
  return { ends, below: new Map([...below].map(([key, longer]) => [key, placesOf(longer, depth + 1)])) };
}

/**
 * A copy with `change` applied at these places, as far as the value has them. It shares all other parts with the value: of the 20,000 values
 * that a config may have, few are secret.
 */
export function atPlaces(value: Json, { ends, below }: Places, change: (found: Json, path: Path) => Json, at: Path = []): Json {
  if (ends) return change(value, at);
  if (below.size === 0 || typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const copy = (isList ? [...value] : { ...value }) as Record<string, Json>;
  for (const key of Object.keys(copy)) {
    const places = below.get(key);
    if (places !== undefined) put(copy, key, atPlaces(copy[key] as Json, places, change, [...at, isList ? Number(key) : key]));
  }
  return copy as Json;
}

export function maskSecrets(config: JsonObject, secrets: readonly Path[]): JsonObject {
  return atPlaces(config, placesOf(secrets), maskValue) as JsonObject;
}

/** Separates the secrets, which must be sealed, from the rest, which may be stored in the clear. */
export function splitSecrets(config: JsonObject, places: readonly Path[]): { open: JsonObject; secrets: SecretAt[] } {
  const secrets: SecretAt[] = [];
  const open = atPlaces(config, placesOf(places), (value, path) => {
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
  const places = placesOf(secrets.map(({ path }) => path));
  return atPlaces(open, places, (_, path) => byPath.get(JSON.stringify(path)) ?? null) as JsonObject;
}

/** The field's path as used in faults: `parameters.headers[0]`. */
export function pathText(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
}

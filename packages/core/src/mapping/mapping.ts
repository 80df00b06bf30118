import { isObject } from '../json.ts';
import { finish, type Steps } from '../steps.ts';
import type { CompiledMapping, MappingOptions } from './result.ts';
import { shared } from './shared.ts';
import { compileV1 } from './v1/compile.ts';
import { compileV2 } from './v2/compile.ts';
import { join } from './validate/checks.ts';

export type { CompiledMapping, Mapped, MappingOptions, RunContext } from './result.ts';

/** Config keys of a revision that belong to the mapping. All others are the vendor's fields. */
export const MAPPING_KEYS = ['version', 'global', 'events', 'defaults', 'steps'] as const;

/** Compiles a revision's mapping to one function, or returns all of its faults. Ignores keys that do not belong to the mapping. */
export function compileMapping(config: unknown, options: MappingOptions = {}): CompiledMapping {
  return finish(compileMappingInSteps(config, options));
}

/** Yields after each event: a config may have thousands of mappings. */
export function* compileMappingInSteps(config: unknown, options: MappingOptions = {}): Steps<CompiledMapping> {
  const { where = '' } = options;
  const fault = (field: string, message: string): CompiledMapping => ({ ok: false, faults: [{ field, message }] });
  if (!isObject(config)) return fault(where, 'A config must be an object.');
  const { version, global, events, defaults, steps } = config;
  if (version === 1) {
    const stray = ['global', 'events', 'defaults'].find((key) => config[key] !== undefined && config[key] !== null);
    return stray
      ? fault(join(where, stray), 'belongs to version 2; version 1 has steps')
      : yield* shared({ version, steps }, options, () => compileV1(config, options));
  }
  if (version !== undefined && version !== null && version !== 2) return fault(join(where, 'version'), 'The version is 1 or 2.');
  if (steps !== undefined && steps !== null) return fault(join(where, 'steps'), 'belongs to version 1');
  return yield* shared({ global, events, defaults }, options, () => compileV2(config, options));
}

/** The integration for a test event: a stored one in its vendor's test mode, or one made from a config that is not stored. */
import { gzipSync } from 'node:zlib';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { compileVendorInSteps } from '@firsthand/core/vendor/compile.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { invalid } from '../http/errors.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import { finishInTurns } from '../runtime/turns.ts';
import type { CompiledIntegration } from '../snapshot/types.ts';
import type { RehearseOptions } from './rehearse.ts';

/** `code`: from the vendor's test page, where its test mode needs one. */
export async function inTestMode(
  compiled: CompiledIntegration,
  definition: VendorDefinition,
  code: string | undefined,
  options: RehearseOptions,
): Promise<CompiledIntegration> {
  const config = withTestMode(compiled.config, definition, code);
  return { ...compiled, config, ...(await compileTrial(definition, config, compiled.secrets, options)) };
}

export function withTestMode(config: JsonObject, { test_mode: test, name }: VendorDefinition, code: string | undefined): JsonObject {
  if (test === undefined) throw invalid('test_mode', `must be absent: ${name} has no test mode`);
  const value = test.value ?? code;
  if (value === undefined) throw invalid('test_code', `is required: copy it from the test page of ${name}`);
  // `parameters` wins over the top level.
  const parameters = isObject(config.parameters) ? { parameters: { ...config.parameters, [test.field]: value } as JsonObject } : {};
  return { ...config, ...parameters, [test.field]: value };
}

export async function compileTrial(
  definition: VendorDefinition,
  config: JsonObject,
  secrets: readonly string[],
  options: RehearseOptions,
): Promise<Pick<CompiledIntegration, 'vendor' | 'faults'>> {
  const all = { ...options, gzip: gzipSync, keys: privateKeys, secrets: [...secrets] };
  const result = await finishInTurns(compileVendorInSteps(definition, config, all));
  return result.ok ? { vendor: result.vendor, faults: [] } : { vendor: undefined, faults: [...result.missing, ...result.invalid] };
}

/** An integration with its vendor's test mode switched on, for one test event. What is stored stays as it is. */
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
  const { test_mode: test, name } = definition;
  if (test === undefined) throw invalid('test_mode', `must be absent: ${name} has no test mode`);
  const value = test.value ?? code;
  if (value === undefined) throw invalid('test_code', `is required: copy it from the test page of ${name}`);
  const config: JsonObject = { ...compiled.config, [test.field]: value };
  // `parameters` wins over the top level.
  if (isObject(config.parameters)) config.parameters = { ...config.parameters, [test.field]: value } as JsonObject;
  const all = { ...options, gzip: gzipSync, keys: privateKeys, secrets: [...compiled.secrets] };
  const result = await finishInTurns(compileVendorInSteps(definition, config, all));
  if (!result.ok) return { ...compiled, vendor: undefined, faults: [...result.missing, ...result.invalid] };
  return { ...compiled, config, vendor: result.vendor };
}

/**
 * Computes the requests that a config would send for an event, with the same code as a delivery but without sending. Used by preview and
 * revision diff.
 */
import { gzipSync } from 'node:zlib';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { missingParameter } from '@firsthand/core/mapping/parameters/placeholder.ts';
import { substitute } from '@firsthand/core/mapping/parameters/substitute.ts';
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import { finish, type Steps } from '@firsthand/core/steps.ts';
import { compileVendorInSteps } from '@firsthand/core/vendor/compile.ts';
import type { BuildContext, CompiledVendor, ConfigFault, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { maskRequest, secretParameterValues, secretValues } from '@firsthand/core/vendor/secrets.ts';
import { jsonTemplateFields } from '@firsthand/core/vendor/template-body.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import { prepareInSteps } from '../snapshot/prepare.ts';

export interface Rehearsal {
  requests: { method: string; url: string; headers: Record<string, string>; body: unknown }[];
  dropped: { reason: DropReason } | null;
  /** The mapping or template failed on this event. */
  failed: { reason: string } | null;
  warnings: string[];
}
/** Divided: a large event may take a quarter of a second. `bytes`: size of the event's JSON text. Without it the event is measured. */
export type Rehearse = (event: CanonicalEvent, now: number, bytes?: number) => Steps<Rehearsal>;

export interface RehearseOptions {
  mode: 'development' | 'production';
  allow_private: boolean;
  /** Parameters that are secret whatever their names say. */
  sealed?: readonly string[];
}

type CompiledRehearsal = { ok: true; rehearse: Rehearse } | { ok: false; faults: ConfigFault[] };

export function compileRehearsal(...args: Parameters<typeof compileRehearsalInSteps>): CompiledRehearsal {
  return finish(compileRehearsalInSteps(...args));
}
/** The same, divided: for a config that somebody sent. */
export function* compileRehearsalInSteps(
  definition: VendorDefinition,
  stored: JsonObject,
  parameters: Record<string, string>,
  { sealed, ...options }: RehearseOptions,
): Steps<CompiledRehearsal> {
  const { config, missing, excess } = substitute(stored, parameters, jsonTemplateFields(definition));
  if (excess !== undefined) return { ok: false, faults: [{ field: '', message: excess }] };
  yield* prepareInSteps(config);
  const parameterSecrets = secretParameterValues(parameters, sealed);
  yield;
  const steps = compileVendorInSteps(definition, config, { ...options, gzip: gzipSync, keys: privateKeys, secrets: parameterSecrets });
  const result = yield* steps;
  if (!result.ok) return { ok: false, faults: [...result.missing, ...result.invalid] };
  const { vendor } = result;
  const warnings = [...new Set([...missing.map(missingParameter), ...vendor.warnings])];
  const secrets = [...secretValues(definition, config), ...parameterSecrets];
  return {
    ok: true,
    rehearse: (event, now, bytes) => rehearse(vendor, secrets, warnings, event, { now, ...(bytes !== undefined && { bytes }) }),
  };
}

/** A step makes, masks or reads requests of about this size. */
const STEP_BYTES = 262_144;

function* rehearse(
  vendor: CompiledVendor,
  secrets: readonly string[],
  warnings: string[],
  event: CanonicalEvent,
  building: BuildContext,
): Steps<Rehearsal> {
  const { now } = building;
  const built = yield* vendor.buildInSteps(event, building);
  if (built.kind === 'dropped') return { requests: [], dropped: { reason: built.reason }, failed: null, warnings };
  if (built.kind === 'failed') return { requests: [], dropped: null, failed: { reason: built.reason }, warnings };
  const context = { now, attempt: 1, request_id: event.event_id, ...(vendor.token ? { access_token: '••••' } : {}) };
  const requests: Rehearsal['requests'] = [];
  let bytes = STEP_BYTES;
  for (const item of built.items) {
    if (bytes >= STEP_BYTES) {
      bytes = 0;
      yield;
    }
    const masked = maskRequest(vendor.request([item], context), secrets);
    bytes += item.size;
    if (bytes >= STEP_BYTES) {
      bytes = 0;
      yield;
    }
    requests.push(yield* shown(masked));
    bytes += item.size;
  }
  return { requests, dropped: null, failed: null, warnings: [...warnings, ...(built.warnings ?? [])] };
}

function* shown({ method, url, headers, body }: VendorRequest): Steps<Rehearsal['requests'][number]> {
  const text = typeof body === 'string' || body === undefined ? body : Buffer.from(body).toString('utf8');
  return { method, url, headers, body: text === undefined ? null : yield* readable(text) };
}
/** Parses JSON; returns any other text unchanged. */
function* readable(text: string): Steps<unknown> {
  try {
    return yield* parseInSteps(text);
  } catch {
    return text;
  }
}

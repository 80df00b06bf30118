/** `POST /transformations/test`: runs one event through one transformation, exactly as processing would, and stores nothing. */
import type { Transformation } from '@firsthand/core/config/resources.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { acceptReturned } from '@firsthand/core/process/code.ts';
import { compileTransformation } from '@firsthand/core/process/transformation.ts';
import { turns } from '../runtime/turns.ts';
import type { Sandbox } from './sandbox.ts';

export interface TransformationTrial {
  kind: 'rules' | 'code';
  rules?: Transformation['rules'];
  code?: string;
  event: CanonicalEvent;
  parameters?: Record<string, string>;
}
export interface TransformationTrialResult {
  event: CanonicalEvent | null;
  logs: string[];
  error: string | null;
}

/** `line` is the organisation: it determines whose turn the run takes in the sandbox. */
export async function tryTransformation(
  test: TransformationTrial,
  sandbox: Pick<Sandbox, 'runFresh'>,
  line: string,
): Promise<TransformationTrialResult> {
  const parameters = test.parameters ?? {};
  const source = { id: 'test', kind: test.kind, rules: test.rules ?? [], code: test.code ?? '', event_filter: null };
  const compiled = compileTransformation(source, parameters);
  // The event may be large: each pass over it is a turn of its own.
  await turns.bulk();
  if (!compiled.ok) return failed(compiled.faults.map(({ field, message }) => `${field}: ${message}`).join('; '), []);
  if (compiled.transformation.kind === 'rules') {
    try {
      // Rules copy what they change below the top level.
      const result = compiled.transformation.apply({ ...test.event });
      if (result.kind === 'failed') return failed(result.reason, compiled.warnings);
      return { event: result.kind === 'event' ? result.event : null, logs: compiled.warnings, error: null };
    } catch (error) {
      return failed((error as Error).message, compiled.warnings);
    }
  }
  const result = await sandbox.runFresh(compiled.transformation.code.code, test.event, parameters, line);
  if (result.kind === 'failed') return failed(result.reason, result.logs);
  await turns.bulk();
  const accepted = acceptReturned(result.value, test.event);
  if (accepted.kind === 'failed') return failed(accepted.reason, result.logs);
  return { event: accepted.kind === 'event' ? accepted.event : null, logs: result.logs, error: null };
}

function failed(error: string, logs: string[]): TransformationTrialResult {
  return { event: null, logs, error };
}

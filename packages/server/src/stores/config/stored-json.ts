import type { ReadJson } from '@firsthand/core/config/resource.ts';
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import { finishInTurns, turns } from '../../runtime/turns.ts';

/**
 * For callers that list or repair configuration: a damaged column reads as `empty`, so that other columns still load and writing the field
 * repairs it. The snapshot reads strictly instead, disables the piece and reports it.
 */
export const lenientJson: ReadJson = (_field, text, empty) => storedJson(text, empty);

export function storedJson<T>(text: string, empty: T): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    return empty;
  }
}

/** The same in steps, for documents that may be large. */
export async function storedJsonInTurns<T>(text: string, empty: T): Promise<T> {
  await turns.bulk();
  try {
    return (await finishInTurns(parseInSteps(text))) as T;
  } catch {
    return empty;
  }
}

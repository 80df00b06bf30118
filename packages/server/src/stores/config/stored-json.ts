import type { ReadJson } from '@firsthand/core/config/resource.ts';

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

/**
 * Regular expressions of RE2: linear in the length of the text whatever the pattern, but also in the size of what the pattern compiles
 * to. `.{1000}` written a hundred times would hold the whole process for half a minute on one event, so that both are bounded.
 */
import { RE2JS } from 're2js';

export const MAX_PATTERN_LENGTH = 1_000;
/** `^.{1,1000}$`, the longest repetition RE2 knows, has 2,005 steps; an expression for URLs about 550. */
const MAX_SIZE = 2_500;
/** Steps times characters: some tenths of a second at worst. A pattern of 20 steps reads a text as large as an event can be. */
const MAX_WORK = 20_000_000;

export interface Pattern {
  /** Found anywhere in the text; never where text and pattern together are too much work. */
  test(text: string): boolean;
  /** Undefined where text and pattern together are too much work. */
  replaceAll(text: string, replacement: string): string | undefined;
}

export function compilePattern(
  pattern: string,
  options: { any_case?: boolean } = {},
): { ok: true; regexp: Pattern } | { ok: false; message: string } {
  if (pattern.length > MAX_PATTERN_LENGTH) return { ok: false, message: `A pattern may be at most ${MAX_PATTERN_LENGTH} characters long.` };
  let compiled: RE2JS;
  try {
    compiled = options.any_case ? RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE) : RE2JS.compile(pattern);
  } catch (error) {
    return { ok: false, message: `Not a regular expression of RE2: ${error instanceof Error ? error.message : 'unknown fault'}` };
  }
  const size = compiled.programSize();
  if (size > MAX_SIZE)
    return { ok: false, message: `The pattern is too large: its repetitions come to ${size} steps, at most ${MAX_SIZE}.` };
  const longest = Math.floor(MAX_WORK / size);
  return {
    ok: true,
    regexp: {
      test: (text) => text.length <= longest && compiled.test(text),
      replaceAll: (text, replacement) => (text.length <= longest ? compiled.matcher(text).replaceAll(replacement) : undefined),
    },
  };
}

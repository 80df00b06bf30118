/** JSON text in steps: `JSON.stringify` of 4 MB in small fields takes up to 100 ms. */
import type { Steps } from './steps.ts';
import { weigh } from './value-size.ts';

/** A step writes about this much. */
const STEP_CHARS = 65_536;

/** The text of `JSON.stringify`. Undefined where that is. */
export function* stringifyInSteps(value: unknown, stepChars = STEP_CHARS): Steps<string | undefined> {
  if (Array.isArray(value) && !('toJSON' in value)) {
    if (weigh(value, stepChars) > stepChars) return yield* listText(value, stepChars);
  } else if (isPlain(value)) {
    // Listing the names of an object with thousands of fields takes milliseconds.
    const names = Object.keys(value);
    if (isLarge(value, names, stepChars)) return yield* objectText(value, names, stepChars);
  }
  return JSON.stringify(value);
}

/** Others may have a `toJSON`, or be a raw number. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value);
}
function isLarge(object: Record<string, unknown>, names: readonly string[], stepChars: number): boolean {
  let chars = 0;
  for (let i = 0; i < names.length && chars <= stepChars; i++) chars += names[i]!.length + weigh(object[names[i]!], stepChars - chars);
  return chars > stepChars;
}

function* listText(list: readonly unknown[], stepChars: number): Steps<string> {
  const pieces: string[] = [];
  // Every level looks at the names of a large object inside it again.
  yield;
  for (let from = 0; from < list.length; yield) {
    let to = from;
    for (let chars = 0; to < list.length; to++) {
      chars += weigh(list[to], stepChars - chars);
      if (chars > stepChars) break;
    }
    if (to === from) pieces.push((yield* stringifyInSteps(list[to++], stepChars)) ?? 'null');
    else pieces.push(JSON.stringify(list.slice(from, to)).slice(1, -1));
    from = to;
  }
  return `[${pieces.join(',')}]`;
}

function* objectText(object: Record<string, unknown>, names: readonly string[], stepChars: number): Steps<string> {
  const pieces: string[] = [];
  let fields: string[] = [];
  let chars = 0;
  yield;
  for (const name of names) {
    const value = object[name];
    const text = typeof value === 'object' ? yield* stringifyInSteps(value, stepChars) : (JSON.stringify(value) as string | undefined);
    if (text === undefined) continue;
    fields.push(`${JSON.stringify(name)}:${text}`);
    chars += name.length + text.length;
    if (chars < stepChars) continue;
    // Joined in its own step: a text that was added up is copied together when it is read, all of it at once.
    pieces.push(fields.join(','));
    fields = [];
    chars = 0;
    yield;
  }
  if (fields.length > 0) pieces.push(fields.join(','));
  return `{${pieces.join(',')}}`;
}

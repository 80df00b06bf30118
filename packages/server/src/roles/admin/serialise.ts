import { turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';

/** A response body that is JSON text already. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object with a longer list inside is not written in one step. */
const LONG_LIST = 50;

/** The text of `JSON.stringify`, with turns of the loop between the entries of lists. */
export async function stringifyInTurns(value: unknown): Promise<string> {
  if (Array.isArray(value)) {
    const parts: string[] = [];
    for (const each of value) parts.push(isLong(each) ? await stringifyInTurns(each) : ((await stringifyOne(each)) ?? 'null'));
    return `[${parts.join(',')}]`;
  }
  const parts: string[] = [];
  for (const [name, each] of Object.entries(value as object)) {
    const text = Array.isArray(each) || isLong(each) ? await stringifyInTurns(each) : await stringifyOne(each);
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

/** Whether a response has a list, and so may be large. */
export function isList(value: unknown): value is object {
  return isPlain(value) && Object.values(value).some((each) => Array.isArray(each) && each.length > 1);
}

async function stringifyOne(value: unknown): Promise<string | undefined> {
  const turn = turns.bulk();
  if (turn !== undefined) await turn;
  const text = JSON.stringify(value) as string | undefined;
  if (text !== undefined && text.length > VERY_LARGE_BYTES) turns.tookLong();
  return text;
}
function isLong(value: unknown): boolean {
  return isPlain(value) && Object.values(value).some((each) => Array.isArray(each) && each.length > LONG_LIST);
}
/** Others may have a `toJSON`, or be a raw number. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value);
}

import type { Steps } from '@firsthand/core/steps.ts';
import { stringifyInSteps } from '@firsthand/core/stringify-in-steps.ts';
import { weigh } from '@firsthand/core/value-size.ts';
import { finishInTurns } from '../../runtime/turns.ts';

/** A response body that is JSON already. */
export class JsonBody {
  readonly json: string | Buffer;
  constructor(json: string | Buffer) {
    this.json = json;
  }
}

/** For a handler whose answer is JSON already: `T` is what it would be parsed to. */
export function jsonBody<T>(json: string | Buffer): T {
  const body: unknown = new JsonBody(json);
  return body as T;
}

/** Characters that are written in one step. */
const SMALL = 65_536;

/** Writes a large response as JSON in steps, with other work in between. Fastify writes the small ones. */
export async function serialiseLarge(body: unknown): Promise<unknown> {
  if (body instanceof JsonBody) return body;
  return weigh(body, SMALL) > SMALL ? new JsonBody(await finishInTurns(bytesInSteps(body))) : body;
}

/** Encoding a text of megabytes takes as long as writing it. */
function* bytesInSteps(body: unknown): Steps<Buffer> {
  const text = (yield* stringifyInSteps(body)) ?? 'null';
  const pieces: Buffer[] = [];
  for (let from = 0, to: number; from < text.length; from = to) {
    yield;
    to = from + SMALL;
    if (isFirstOfTwo(text.charCodeAt(to - 1))) to += 1;
    pieces.push(Buffer.from(text.slice(from, to)));
  }
  return Buffer.concat(pieces);
}
/** Of the two halves of a character beyond U+FFFF. */
const isFirstOfTwo = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

import { stringifyInSteps } from '@firsthand/core/stringify-in-steps.ts';
import { weigh } from '@firsthand/core/value-size.ts';
import { finishInTurns } from '../../runtime/turns.ts';

/** A response body that is JSON text already. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** For a handler whose answer is JSON text already: `T` is what the text would be parsed to. */
export function jsonText<T>(text: string): T {
  const body: unknown = new JsonText(text);
  return body as T;
}

/** Characters that are written in one step. */
const SMALL = 65_536;

/** A large response as its JSON text, written with turns of the loop in between. Others are left to Fastify. */
export async function serialiseLarge(body: unknown): Promise<unknown> {
  return weigh(body, SMALL) > SMALL ? new JsonText((await finishInTurns(stringifyInSteps(body))) ?? 'null') : body;
}

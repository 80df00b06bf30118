/** The thread of `encoder.ts`. Lines come in pieces; the last piece carries the options. */
import type { MessagePort } from 'node:worker_threads';
import { errorText } from '../../runtime/error-text.ts';
import { type EncodedObject, type EncodingOptions, encodeObject } from './encoding.ts';

export interface EncoderRequest {
  id: number;
  lines: string[];
  /** Set on the last piece. */
  options?: EncodingOptions;
}
export type EncoderReply = { id: number; object: EncodedObject } | { id: number; error: string };

export function start(port: MessagePort): void {
  const pending = new Map<number, string[]>();
  port.on('message', ({ id, lines, options }: EncoderRequest) => {
    const all = pending.get(id) ?? [];
    for (const line of lines) all.push(line);
    if (!options) {
      pending.set(id, all);
      return;
    }
    pending.delete(id);
    encodeObject(all, options).then(
      (object) => port.postMessage({ id, object } satisfies EncoderReply, [object.bytes.buffer]),
      (error: unknown) => port.postMessage({ id, error: errorText(error) } satisfies EncoderReply),
    );
  });
}

/** The thread of `encoder.ts`. */
import type { MessagePort } from 'node:worker_threads';
import { errorText } from '../../runtime/error-text.ts';
import { type EncodedObject, type EncodingOptions, encodeObject } from './encoding.ts';

export interface EncoderRequest {
  id: number;
  ndjson: Uint8Array<ArrayBuffer>;
  rows: number;
  options: EncodingOptions;
}
export type EncoderReply = { id: number; object: EncodedObject } | { id: number; error: string };

export function start(port: MessagePort): void {
  port.on('message', ({ id, ndjson, rows, options }: EncoderRequest) => {
    encodeObject(ndjson, rows, options)
      .then(
        (object) => port.postMessage({ id, object } satisfies EncoderReply, [object.bytes.buffer]),
        (error: unknown) => port.postMessage({ id, error: errorText(error) } satisfies EncoderReply),
      )
      // This heap is small, so its collector would let dozens of files pile up. Uncompressed rows were handed on as they are.
      .finally(() => void (ndjson.buffer.detached || ndjson.buffer.transfer(0)));
  });
}

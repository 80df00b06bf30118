/**
 * A request whose stream joins small chunks. Node makes a buffer of 400 bytes for each chunk, and readers such as Fastify keep a list of them
 * until the body ends: 1 MB in chunks of one byte would take hundreds.
 */
import { IncomingMessage } from 'node:http';
import { BodyBytes } from './body-bytes.ts';

const SMALL_BYTES = 16_384;

export class JoinedRequest extends IncomingMessage {
  #small: BodyBytes | undefined;

  /** The parser calls it with each chunk, and with null at the end. False would pause the connection. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const small = this.#small;
    if (small === undefined) {
      if (chunk === null || chunk.length >= SMALL_BYTES) return super.push(chunk, encoding);
      this.#small = new BodyBytes(chunk);
      return true;
    }
    if (chunk !== null) {
      small.add(chunk);
      if (small.size < SMALL_BYTES) return true;
    }
    this.#small = undefined;
    const more = super.push(small.joined, encoding);
    return chunk === null ? super.push(null) : more;
  }
}

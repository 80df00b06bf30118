/**
 * The request class of the collection listener. A reader can take the body straight from the parser: most bodies are one
 * chunk of a few hundred bytes, and a stream around it costs more than reading it. Without a reader it is a plain request.
 */
import type { IncomingMessage } from 'node:http';
import { JoinedRequest } from '../../../http/joined-request.ts';
import type { BodyReader } from '../exchange.ts';

export class CollectionRequest extends JoinedRequest {
  #reader: BodyReader | undefined;

  /** Passes every further chunk to `reader`, past the stream. */
  divertBody(reader: BodyReader): void {
    this.#reader = reader;
    // Node would otherwise find the stream unread after the reply and start to drain it.
    (this as { _consuming?: boolean })._consuming = true;
  }
  /** The parser calls it with each chunk, and with null at the end. False would pause the connection. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const reader = this.#reader;
    if (reader === undefined) return super.push(chunk, encoding);
    if (chunk === null) reader.end();
    else reader.data(chunk);
    return true;
  }
}

/** Works for every request; quicker for those of a listener that was made with `CollectionRequest`. */
export function readBody(req: IncomingMessage, reader: BodyReader): void {
  if (req instanceof CollectionRequest) {
    req.divertBody(reader);
    return;
  }
  req.on('data', (chunk: Buffer) => reader.data(chunk));
  req.on('end', () => reader.end());
}

/**
 * The request of the listener that collects. Its body can be had straight from the parser: most bodies are one piece of a few hundred
 * bytes, and making a stream of that takes longer than reading it. Unless it is diverted, it is a request like any other.
 */
import { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';
import type { Route } from './routes.ts';

export interface BodySink {
  data(chunk: Buffer): void;
  end(): void;
}

export class CollectionMessage extends IncomingMessage {
  #sink: BodySink | undefined;
  /** Where it goes, once somebody has looked that up. */
  route: Route | undefined;
  /** It was asked already whether this one is too much. */
  isLetIn = false;
  /** It is on its way already, and only wants a response. */
  exchange: Exchange | undefined;

  /** From now on the body goes there, as it comes. */
  divert(sink: BodySink): void {
    this.#sink = sink;
    // Node would otherwise find, after the answer, that nobody has read the stream, and set it in motion to empty it.
    (this as { _consuming?: boolean })._consuming = true;
  }
  /** The parser calls it with each piece, and with null at the end. False would stop the connection. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const sink = this.#sink;
    if (sink === undefined) return super.push(chunk, encoding);
    if (chunk === null) sink.end();
    else sink.data(chunk);
    return true;
  }
}

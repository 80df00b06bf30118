/** `GET /v1/pixel/t` and `/p`: key and fields in the query, for mails and pages without scripts. */
import { assign } from '@firsthand/core/inbound/target.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { parseBody } from './body.ts';
import { admit, takeEvent } from './collect.ts';
import { type Exchange, hasRoom } from './exchange.ts';
import { keyOf } from './key.ts';
import { checkSignature } from './request-signature.ts';

const FIELDS = new Set(['type', 'event', 'name', 'userId', 'anonymousId', 'groupId', 'timestamp', 'messageId', 'sentAt']);
const OBJECTS = new Set(['properties', 'context', 'traits']);
const NO_BODY = Buffer.alloc(0);
const INSIDE = /^(?:properties|context|traits)(?:\.[^.]+){1,16}$/;

export function collectPixel(exchange: Exchange): void {
  const { req, query } = exchange;
  if (!hasRoom(exchange)) return;
  if (!admit(exchange, keyOf(req, query) ?? '')) return;
  // What a signature covers is the body, and a pixel has none; a pipeline that asks for signatures takes no pixel without one.
  const rules = exchange.rules!;
  if (rules.server && checkSignature(req.headers, rules, [NO_BODY], exchange.receivedAt).kind === 'wrong') {
    exchange.refuse({ code: 'invalid_signature' });
    return;
  }
  const body = readQuery(query ?? '');
  if (typeof body === 'string') {
    exchange.refuse({ code: 'validation_failed', message: body });
    return;
  }
  const referrer = req.headers.referer;
  if (referrer) {
    const context = own(body, 'context');
    if (!(isObject(context) && Object.hasOwn(context, 'page'))) assign(body, 'context.page.url', referrer);
  }
  exchange.enter();
  takeEvent(exchange, body, Buffer.from(JSON.stringify(body)), undefined);
}

/** The event, or what is wrong. Objects come as JSON (`properties={"a":1}`) or field by field (`properties.a=1`). */
export function readQuery(query: string): JsonObject | string {
  const body: JsonObject = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (FIELDS.has(name)) body[name] = value;
    else if (OBJECTS.has(name)) {
      const parsed = parseBody(Buffer.from(value));
      if (!parsed.ok || !isObject(parsed.value)) return `${name} must be a JSON object.`;
      for (const [key, inside] of Object.entries(parsed.value as JsonObject)) assignInside(body, name, key, inside);
    } else if (INSIDE.test(name)) assign(body, name, value);
  }
  return body;
}

function assignInside(body: JsonObject, name: string, key: string, value: unknown): void {
  const object = own(body, name);
  const inside = isObject(object) ? (object as JsonObject) : {};
  Object.defineProperty(inside, key, { value, enumerable: true, configurable: true, writable: true });
  body[name] = inside;
}

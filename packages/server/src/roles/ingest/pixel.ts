/** `GET /v1/pixel/t` and `/p`: key and fields in the query, for mails and pages without scripts. */
import { assign } from '@firsthand/core/inbound/target.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { parseBody } from '../../intake/parse-body.ts';
import { admit, verifySignature } from './admission.ts';
import { acceptEvent } from './collect.ts';
import type { Exchange } from './exchange.ts';
import { keyOf } from './pipeline-key.ts';

const FIELDS = new Set(['type', 'event', 'name', 'userId', 'anonymousId', 'groupId', 'timestamp', 'messageId', 'sentAt']);
const OBJECTS = new Set(['properties', 'context', 'traits']);
const NESTED = /^(?:properties|context|traits)(?:\.[^.]+){1,16}$/;
const NO_BODY = Buffer.alloc(0);

export function collectPixel(exchange: Exchange): void {
  const { req, query } = exchange;
  const event = () => bytesOf(readPixel(exchange));
  const rules = admit(exchange, keyOf(req, query) ?? '', () => ({ signed: [NO_BODY], bytes: event() }));
  // A signature covers the body, which is empty here. Pipelines that require one accept no unsigned pixel.
  const sender = rules && verifySignature(exchange, rules, NO_BODY, NO_BODY, event);
  if (sender === undefined) return;
  const body = readPixel(exchange);
  if (typeof body === 'string') {
    exchange.reject({ code: 'validation_failed', message: body });
    return;
  }
  exchange.enter();
  acceptEvent(exchange, sender, body, bytesOf(body));
}

/** The event, or what is wrong. */
function readPixel({ req, query }: Exchange): JsonObject | string {
  const body = readQuery(query ?? '');
  const referrer = req.headers.referer;
  if (typeof body === 'string' || !referrer) return body;
  const context = own(body, 'context');
  if (!(isObject(context) && Object.hasOwn(context, 'page'))) assign(body, 'context.page.url', referrer);
  return body;
}

function bytesOf(body: JsonObject | string): Buffer {
  return typeof body === 'string' ? NO_BODY : Buffer.from(JSON.stringify(body));
}

/** Objects come as JSON (`properties={"a":1}`) or field by field (`properties.a=1`). */
function readQuery(query: string): JsonObject | string {
  const body: JsonObject = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (FIELDS.has(name)) body[name] = value;
    else if (OBJECTS.has(name)) {
      const parsed = parseBody(Buffer.from(value));
      if (!parsed.ok || !isObject(parsed.value)) return `${name} must be a JSON object.`;
      for (const [key, nested] of Object.entries(parsed.value as JsonObject)) assignNested(body, name, key, nested);
    } else if (NESTED.test(name)) assign(body, name, value);
  }
  return body;
}

/** Defines the property: assigning `__proto__` would reach a prototype. */
function assignNested(body: JsonObject, name: string, key: string, value: unknown): void {
  const object = own(body, name);
  const target = isObject(object) ? (object as JsonObject) : {};
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  body[name] = target;
}

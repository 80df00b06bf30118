/** `GET /v1/pixel/t` and `/p`: key and fields in the query, for mails and pages without scripts. */
import { assign } from '@firsthand/core/inbound/target.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { messageOf, type Rejection } from '../../http/collection-reply.ts';
import { restoreZoneSign } from '../../http/query-time.ts';
import { inexactNumber, parseBody } from '../../intake/parse-body.ts';
import { admit, verifySignature } from './admission.ts';
import { acceptEvent } from './collect.ts';
import type { Exchange } from './exchange.ts';
import { keyOf } from './pipeline-key.ts';
import { rejectContent } from './reject-content.ts';

const FIELDS = new Set(['type', 'event', 'name', 'userId', 'anonymousId', 'groupId', 'timestamp', 'messageId', 'sentAt']);
const TIMES = new Set(['timestamp', 'sentAt']);
const OBJECTS = new Set(['properties', 'context', 'traits']);
const NESTED = /^(?:properties|context|traits)(?:\.[^.]+){1,16}$/;
const NO_BODY = Buffer.alloc(0);

export function collectPixel(exchange: Exchange): void {
  const { headers, query } = exchange;
  const event = () => bytesOf(readPixel(exchange).body);
  const rules = admit(exchange, keyOf(headers, query) ?? '', () => ({ signed: [NO_BODY], bytes: event() }));
  // A signature covers the body, which is empty here. Pipelines that require one accept no unsigned pixel.
  const sender = rules && verifySignature(exchange, rules, NO_BODY, NO_BODY, event);
  if (sender === undefined) return;
  const { body, rejection } = readPixel(exchange);
  if (rejection !== undefined) {
    rejectContent(exchange, sender.rules, rejection, body, bytesOf(body));
    return;
  }
  exchange.enter();
  acceptEvent(exchange, sender, body, bytesOf(body));
}

interface Pixel {
  body: JsonObject;
  rejection: Rejection | undefined;
}
function readPixel({ headers, query }: Exchange): Pixel {
  const pixel = readQuery(query ?? '');
  const referrer = headers.referer;
  if (!referrer || pixel.rejection !== undefined) return pixel;
  const context = own(pixel.body, 'context');
  if (!(isObject(context) && Object.hasOwn(context, 'page'))) assign(pixel.body, 'context.page.url', referrer);
  return pixel;
}

function bytesOf(body: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(body));
}

/** Objects come as JSON (`properties={"a":1}`) or field by field (`properties.a=1`). One that is rejected stays in the event as its text. */
function readQuery(query: string): Pixel {
  const body: JsonObject = {};
  const rejected: JsonObject = {};
  let rejection: Rejection | undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (FIELDS.has(name)) body[name] = TIMES.has(name) ? restoreZoneSign(value) : value;
    else if (OBJECTS.has(name)) {
      const object = readObject(name, value);
      if ('code' in object) {
        rejection ??= object;
        rejected[name] = value;
      } else for (const [key, nested] of Object.entries(object.fields)) assignNested(body, name, key, nested);
    } else if (NESTED.test(name)) assign(body, name, value);
  }
  return { body: { ...body, ...rejected }, rejection };
}

function readObject(name: string, text: string): { fields: JsonObject } | Rejection {
  const bytes = Buffer.from(text);
  const parsed = parseBody(bytes);
  if (!parsed.ok || !isObject(parsed.value)) return { code: 'validation_failed', message: `${name} must be a JSON object.` };
  const inexact = parsed.longNumbers ? inexactNumber(bytes) : undefined;
  return inexact === undefined ? { fields: parsed.value as JsonObject } : { ...inexact, message: `${name}.${messageOf(inexact)}` };
}

/** Defines the property: assigning `__proto__` would reach a prototype. */
function assignNested(body: JsonObject, name: string, key: string, value: unknown): void {
  const object = own(body, name);
  const target = isObject(object) ? (object as JsonObject) : {};
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  body[name] = target;
}

/** A webhook request to records for the ingest log: verify, parse, map, validate. A replay takes the same steps. */
import { envelopeFields } from '@firsthand/core/event/envelope.ts';
import { validateEvent } from '@firsthand/core/event/validate.ts';
import { withExactIntegers } from '@firsthand/core/inbound/exact-integers.ts';
import { messageOf, type Rejection } from '../../http/collection-reply.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../snapshot/webhook-source.ts';
import { ANY_CALL } from '../call-rules.ts';
import { buildRecord, type IngestRecord } from '../ingest-record.ts';
import { inexactNumber, parseBody, withoutMark } from '../parse-body.ts';

export interface WebhookRequest {
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The bytes that were signed. */
  body: Buffer;
  /** The body unpacked, where it came as gzip. */
  unpacked?: Buffer;
  receivedAt: number;
  urls: readonly string[];
  /** Only of a replay: its dead letter, and the digest that stands for the shared secret in it. */
  replay?: { of: string; keptSecret(secret: string): string };
  /** Events without an id of their own get one that derives from this text. */
  digest?: string;
}
/** Of a webhook's body, unpacked. */
export const MAX_WEBHOOK_BYTES = 1_048_576;
export type Converted = { ok: true; records: IngestRecord[] } | { ok: false; reason: string };

const NOT_EXACT: Rejection = { code: 'validation_failed', message: 'The body contains a number that cannot be stored exactly.' };

/** All at once, for small bodies. */
export function convertWebhook(source: CompiledWebhookSource, rules: IngestRules, request: WebhookRequest): Converted {
  const passes = convert(source, rules, request);
  for (let pass = passes.next(); ; pass = passes.next()) if (pass.done) return pass.value;
}

/** Large bodies: each pass over 1 MB takes up to 30 ms, and other work goes on between two of them. */
export async function convertInTurns(source: CompiledWebhookSource, rules: IngestRules, request: WebhookRequest): Promise<Converted> {
  const passes = convert(source, rules, request);
  for (;;) {
    await turns.bulk();
    atStep('webhook', source.source.id);
    const pass = passes.next();
    if (pass.done || pass.value === LONG) turns.tookLong();
    if (pass.done) return pass.value;
  }
}

export function isLargeWebhook({ body, unpacked }: Pick<WebhookRequest, 'body' | 'unpacked'>): boolean {
  return (unpacked ?? body).length > VERY_LARGE_BYTES;
}

/** What a step was: a pass over the whole body, or one of many events. */
const LONG = 'long';
const SHORT = 'short';

function* convert(
  source: CompiledWebhookSource,
  rules: IngestRules,
  request: WebhookRequest,
): Generator<typeof LONG | typeof SHORT, Converted> {
  const { headers, query, body, receivedAt, urls, replay } = request;
  const refused = source.verify({ headers, body, now: receivedAt, urls, ...(replay && { keptSecret: replay.keptSecret }) });
  if (refused !== undefined) return { ok: false, reason: refused };
  const bytes = withoutMark(request.unpacked ?? body);
  yield SHORT;
  const parsed = parseBody(bytes);
  if (!parsed.ok) return { ok: false, reason: parsed.rejection.message ?? 'The body is not valid JSON.' };
  yield LONG;
  const exact = parsed.longNumbers ? withExactIntegers(bytes) : { ok: true as const, value: parsed.value };
  if (!exact.ok) return { ok: false, reason: messageOf(inexactNumber(bytes) ?? NOT_EXACT) };
  if (parsed.longNumbers) yield LONG;
  const mapped = source.map({ body: exact.value, headers, query }, receivedAt);
  if (!mapped.ok) return mapped;
  yield LONG;
  const envelope = envelopeFields({
    received_at: receivedAt,
    source: 'webhook',
    webhook_source_id: source.source.id,
    replay_of: replay?.of,
  });
  const meta = { rules, receivedAt, envelope, browserRequest: false, digest: request.digest };
  const records: IngestRecord[] = [];
  for (const [index, event] of mapped.events.entries()) {
    const fault = validateEvent(event, ANY_CALL);
    if (fault !== undefined) return { ok: false, reason: `mapping failed: ${fault.message}` };
    const serialised = Buffer.from(JSON.stringify(event));
    yield serialised.length > VERY_LARGE_BYTES ? LONG : SHORT;
    records.push(buildRecord(meta, { body: event, bytes: serialised, index }));
  }
  return { ok: true, records };
}

export function headersOf(raw: NodeJS.Dict<string | string[]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return headers;
}

/** The parameters of a URL's query. Of a repeated one the first counts. */
export function queryOf(query: string | undefined): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query ?? '')) if (!values.has(name)) values.set(name, value);
  return Object.fromEntries(values);
}

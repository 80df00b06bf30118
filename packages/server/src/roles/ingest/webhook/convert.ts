/** A webhook request to records for the ingest log: verified, parsed, mapped, checked. The same steps for a replay. */
import { validateEvent } from '@firsthand/core/event/validate.ts';
import type { IngestRules } from '../../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import { parseBody } from '../body.ts';
import { buildRecord, type IngestRecord } from '../record.ts';
import { ROUTES } from '../routes.ts';
import { withExactIntegers } from './exact-integers.ts';

export interface WebhookRequest {
  headers: Readonly<Record<string, string>>;
  /** What was signed. */
  body: Buffer;
  /** The body unpacked, where it came packed. */
  unpacked?: Buffer;
  receivedAt: number;
  urls: readonly string[];
  replayOf?: string;
}
export type Converted = { ok: true; records: IngestRecord[] } | { ok: false; reason: string };

const { rules: anyCall } = ROUTES.get('/v1/events')!;

export function convertWebhook(source: CompiledWebhookSource, rules: IngestRules, request: WebhookRequest): Converted {
  const { headers, body, receivedAt, urls } = request;
  const refused = source.verify({ headers, body, now: receivedAt, urls });
  if (refused !== undefined) return { ok: false, reason: refused };
  const bytes = request.unpacked ?? body;
  const parsed = parseBody(bytes);
  if (!parsed.ok) return { ok: false, reason: parsed.refusal.message ?? 'The body is not valid JSON.' };
  const mapped = source.map({ body: withExactIntegers(bytes.toString(), parsed.value), headers }, receivedAt);
  if (!mapped.ok) return mapped;
  const records: IngestRecord[] = [];
  for (const [index, event] of mapped.events.entries()) {
    const fault = validateEvent(event, anyCall);
    if (fault !== undefined) return { ok: false, reason: `mapping failed: ${fault.message}` };
    const facts = {
      rules,
      receivedAt,
      source: 'webhook' as const,
      browserRequest: false,
      webhookSourceId: source.source.id,
      replayOf: request.replayOf,
    };
    records.push(buildRecord(facts, event, Buffer.from(JSON.stringify(event)), undefined, index));
  }
  return { ok: true, records };
}

export function headersOf(raw: NodeJS.Dict<string | string[]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return headers;
}

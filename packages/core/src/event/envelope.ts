/**
 * What ingest stores: a small envelope of what only ingest knew, then the client's event exactly as it came.
 * One line of JSON, a newline, the bytes.
 */
export interface IngestEnvelope {
  v: 1;
  org_id: string;
  pipeline_id: string;
  event_id: string;
  /** Milliseconds since 1970, the server's clock. */
  received_at: number;
  source: 'browser' | 'server' | 'webhook';
  /** The type that the path implies, for bodies that name none (long aliases, `screen`, `alias`). */
  type?: string;
  /** Decided by ingest: body, context, cookie or derived. */
  anonymous_id?: string;
  /** From the connection; browser endpoints only. */
  ip?: string;
  user_agent?: string;
  /** `Sec-GPC: 1`. */
  gpc?: true;
  /** Batch-level `sentAt` and `context`, where the event has none of its own. */
  sent_at?: string;
  context?: Record<string, unknown>;
  /** First-party vendor ids read from the request's cookies or minted with the answer: `fbp`, `ga_client_id` … */
  vendor_ids?: Record<string, string>;
  /** Inbound webhooks: the source, and the event is already mapped. */
  webhook_source_id?: string;
  /** Why this is a replay, where it is one: the dead letter's id. */
  replay_of?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NEWLINE = 10;

export function encodeEnvelope(envelope: IngestEnvelope, body: Uint8Array): Uint8Array {
  const head = encoder.encode(JSON.stringify(envelope));
  const out = new Uint8Array(head.length + 1 + body.length);
  out.set(head);
  out[head.length] = NEWLINE;
  out.set(body, head.length + 1);
  return out;
}

export function decodeEnvelope(data: Uint8Array): { envelope: IngestEnvelope; body: Uint8Array } {
  const end = data.indexOf(NEWLINE);
  const envelope = JSON.parse(decoder.decode(data.subarray(0, end))) as IngestEnvelope;
  return { envelope, body: data.subarray(end + 1) };
}

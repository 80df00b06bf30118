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
  /** Vendors' cookies of a browser request, by name. */
  cookies?: Record<string, string>;
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
const NOT_ASCII = /[^\x00-\x7f]/;
const EVERY_NOT_ASCII = /[^\x00-\x7f]/g;

/**
 * Envelope fields as JSON text, each with a comma in front; undefined fields are left out. Callers join texts that they keep
 * (one per pipeline, one per request) with the fields of one event. The text is ASCII: its length is its size in bytes.
 */
export function envelopeFields(fields: { readonly [K in keyof IngestEnvelope]?: IngestEnvelope[K] | undefined }): string {
  let text = '';
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) text += `,"${name}":${JSON.stringify(value)}`;
  return NOT_ASCII.test(text) ? text.replace(EVERY_NOT_ASCII, escapeUnit) : text;
}
/** The whole envelope from texts that `envelopeFields` made. */
export function joinEnvelope(...fields: string[]): string {
  return `{"v":1${fields.join('')}}`;
}
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function encodeEnvelope({ v: _version, ...fields }: IngestEnvelope, body: Uint8Array): Uint8Array {
  const head = encoder.encode(joinEnvelope(envelopeFields(fields)));
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

/**
 * The stored form of an event: an envelope with the facts only ingest knows, then the client's event byte for byte. Layout: one line of
 * JSON, a newline, the bytes.
 */
export interface IngestEnvelope {
  v: 1;
  org_id: string;
  pipeline_id: string;
  event_id: string;
  /** Milliseconds since 1970 on the server's clock. */
  received_at: number;
  source: 'browser' | 'server' | 'webhook';
  /** The type implied by the request path, for bodies without a type (long aliases, `screen`, `alias`). */
  type?: string;
  /** Chosen by ingest from body, context or cookie, or derived. */
  anonymous_id?: string;
  /** From the connection. Browser endpoints only. */
  ip?: string;
  user_agent?: string;
  /** Vendor cookies of a browser request, by name. */
  cookies?: Record<string, string>;
  /** The request had the header `Sec-GPC: 1`. */
  gpc?: true;
  /** Batch-level `sentAt`, `context` and `integrations`. The event's own values win. */
  sent_at?: string;
  context?: Record<string, unknown>;
  integrations?: Record<string, boolean>;
  /** First-party vendor ids, read from the request's cookies or created with the response: `fbp`, `ga_client_id` … */
  vendor_ids?: Record<string, string>;
  /** Set for inbound webhooks: the id of the source. The event is already mapped. */
  webhook_source_id?: string;
  /** Set for replays: the id of the dead letter. */
  replay_of?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NEWLINE = 10;
/** Text that JSON leaves as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;
const EVERY_NOT_ASCII = /[^\x00-\x7f]/g;

/**
 * Returns envelope fields as JSON text, each preceded by a comma; undefined fields are omitted. Callers cache texts per pipeline and
 * per request and join them with the fields of one event. The text is ASCII, so its length is its size in bytes.
 */
export function envelopeFields(fields: { readonly [K in keyof IngestEnvelope]?: IngestEnvelope[K] | undefined }): string {
  let text = '';
  for (const name of Object.keys(fields) as (keyof IngestEnvelope)[]) text += envelopeField(name, fields[name]);
  return text;
}
/** One field, without an object around it: ingest does this for every event. */
export function envelopeField<K extends keyof IngestEnvelope>(name: K, value: IngestEnvelope[K] | undefined): string {
  if (value === undefined) return '';
  return `,"${name}":${asciiJson(value)}`;
}
function asciiJson(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value).replace(EVERY_NOT_ASCII, escapeUnit);
}
/** Makes a complete envelope from the texts of `envelopeFields`, one behind the other. */
export function wrapEnvelope(fields: string): string {
  return `{"v":1${fields}}`;
}
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function encodeEnvelope({ v: _version, ...fields }: IngestEnvelope, body: Uint8Array): Uint8Array {
  const head = encoder.encode(wrapEnvelope(envelopeFields(fields)));
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

/**
 * Delivery over something other than HTTP: a database, a stream, a file server. The definition names a driver of the host and
 * says how to connect; each event becomes one record for one target, such as a row of a table.
 */
import { type CanonicalEvent, visitorOf } from '../event/canonical.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ShallowValue } from '../shallow-json.ts';
import { utf8Length } from './bytes.ts';
import type { CompiledVendor, ConfigFault, StoredEvent, VendorItem, VendorRequest } from './compiled.ts';
import type { BatchDefinition } from './definition.ts';
import { compileFolder } from './folder.ts';
import { compileText, renderText } from './text.ts';

/** The drivers that a definition may name. */
const TRANSPORT_KINDS = [
  'postgresql',
  'redshift',
  'mysql',
  'clickhouse',
  'bigquery',
  'snowflake',
  'databricks',
  'kafka',
  'rabbitmq',
  'mqtt',
  'nats',
  'redis',
  's3',
  'gcs',
  'azure_blob',
  'sftp',
] as const;
export type TransportKind = (typeof TRANSPORT_KINDS)[number];

export interface TransportDefinition {
  kind: TransportKind;
  /** Settings of the driver. Texts that refer to config fields only. */
  connection: Record<string, string>;
  /** Where a record goes, such as a table. Text, which may refer to the event and its payload; each target has its own batches. */
  target: string;
  batch: BatchDefinition;
  /**
   * The batch's members are written to the log before it is sent. After a crash the same members are sent again as one batch, in the
   * same order, so a driver that names the batch by its content can recognise the repeat. The driver gives one verdict for the batch.
   */
  sealed?: true;
  /**
   * The target is a folder: `{year}`, `{month}`, `{day}`, `{hour}`, `{date}`, `{event}`, `{type}` and `{pipeline}` are filled in per event.
   */
  files?: true;
  /** The destination stores JSON text: records carry it. */
  text?: true;
}

export interface TransportRecord {
  readonly event_id: string;
  readonly target: string;
  /** The payload: the event itself where nothing is mapped. Reading it may parse: read it once, and only where it is needed. */
  readonly values: JsonObject;
  /** Shared with other integrations: never write to it. Reading it may parse. */
  readonly event: CanonicalEvent;
  /** When the event was accepted, milliseconds since 1970. The same at every attempt. */
  readonly received_at: number;
  /** The JSON of `values`, as text or UTF-8. Only with `files` or `text`. */
  readonly json?: string | Uint8Array;
  /** `visitorOf` the event. Only with `text`. */
  readonly visitor?: string;
  /** The fields of `values`, nested ones as JSON text. Absent or undefined: read `values`. */
  shallow?(): readonly (readonly [name: string, value: ShallowValue])[] | undefined;
}

/**
 * The item and the record of an event that is stored as it is. It holds the event's bytes, which take a fraction of the memory of a parsed
 * event.
 */
class StoredRecord implements VendorItem, TransportRecord {
  readonly lane: string;
  readonly visitor?: string;
  readonly #stored: StoredEvent;

  constructor(stored: StoredEvent, target: string, withVisitor: boolean) {
    this.lane = target;
    if (withVisitor) this.visitor = visitorOf(stored.head);
    this.#stored = stored;
  }
  get payload(): this {
    return this;
  }
  get target(): string {
    return this.lane;
  }
  get size(): number {
    return this.#stored.size;
  }
  get event_id(): string {
    return this.#stored.event_id;
  }
  get received_at(): number {
    return this.#stored.received_at;
  }
  get json(): Uint8Array {
    return this.#stored.json;
  }
  get event(): CanonicalEvent {
    return this.#stored.event;
  }
  shallow(): ReturnType<NonNullable<StoredEvent['shallow']>> {
    return this.#stored.shallow?.();
  }
  get values(): JsonObject {
    // A parsed event is a JSON object. Its interface only has no index signature.
    return this.#stored.event as unknown as JsonObject;
  }
}
export interface CompiledTransport {
  kind: TransportKind;
  connection: Record<string, string>;
  sealed: boolean;
  record(item: VendorItem): TransportRecord;
}

export interface TransportItems {
  transport: CompiledTransport;
  verbatim: NonNullable<CompiledVendor['verbatim']>;
  items(payload: unknown, event: CanonicalEvent, received_at: number): { ok: true; items: VendorItem[] } | { ok: false; reason: string };
}

export function compileTransport(
  definition: TransportDefinition,
  parameters: Record<string, unknown>,
  faults: ConfigFault[],
  pipelineId = 'pipeline',
): TransportItems {
  const connection: Record<string, string> = {};
  for (const [name, text] of Object.entries(definition.connection)) {
    const { constant } = compileText(text, parameters);
    if (constant === undefined) faults.push({ field: `transport.connection.${name}`, message: 'must not depend on the event' });
    else connection[name] = constant;
  }
  // The customer's own text may refer to the event too: `events.{{event.type}}`.
  const given = compileText(definition.target, parameters);
  const target = given.constant === undefined ? given : compileText(given.constant, {});
  const folder = definition.files ? compileFolder(definition.target, parameters, pipelineId) : undefined;
  if (folder && !folder.ok) faults.push({ field: 'path', message: folder.message });
  /** Empty where the event names no target. */
  const targetOf = (stored: Pick<StoredEvent, 'head' | 'event' | 'timestamp'>, payload?: unknown): string => {
    if (folder?.ok) return folder.render(stored);
    return target.constant ?? renderText(target, { event: stored.event, payload: payload ?? stored.event });
  };
  const isText = definition.text === true;
  return {
    verbatim(stored) {
      const to = targetOf(stored);
      if (to === '' && !folder) return undefined;
      return new StoredRecord(stored, to, isText);
    },
    transport: {
      kind: definition.kind,
      connection,
      sealed: definition.sealed === true,
      record: (item) => item.payload as TransportRecord,
    },
    items(payload, event, received_at) {
      if (!isObject(payload)) return { ok: false, reason: 'the payload must be an object with one value per column' };
      const to = targetOf({ head: event, event, timestamp: event.timestamp }, payload);
      if (to === '' && !folder) return { ok: false, reason: 'the event names no target' };
      const json = JSON.stringify(payload);
      const record: TransportRecord = {
        event_id: event.event_id,
        target: to,
        values: payload as JsonObject,
        event,
        received_at,
        ...(folder || isText ? { json } : {}),
        ...(isText ? { visitor: visitorOf(event) } : {}),
      };
      return { ok: true, items: [{ lane: to, payload: record, size: utf8Length(json), event_id: event.event_id }] };
    },
  };
}

/** What a preview shows in the place of a request. */
export function recordsAsRequest({ kind, record }: CompiledTransport, items: VendorItem[]): VendorRequest {
  const records = items.map(record);
  const values = records.map((one) => one.values);
  return {
    method: 'WRITE',
    url: `${kind}:${records[0]?.target ?? ''}`,
    headers: {},
    body: JSON.stringify(values.length === 1 ? values[0] : values),
  };
}

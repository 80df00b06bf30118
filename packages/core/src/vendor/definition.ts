/**
 * What a vendor definition may say. A definition is data: it survives a JSON round trip, so that the API, the console and
 * the documentation show the same object. Behaviour has a name here (`auth.kind`, `body.kind`) and is built once in this folder.
 *
 * Texts marked "text" may hold references: `{{parameters.KEY}}` (a config field, resolved at compile time), `{{event.PATH}}`,
 * `{{payload.PATH}}` and `{{lane.KEY}}` (per item; items that differ in them never share a request), `{{request.id}}`,
 * `{{request.attempt}}`, `{{request.timestamp}}`, `{{body.sha256}}`, and `{{date.year}}`, `month`, `day`, `hour` (of the first
 * item's event). References in a URL are percent-encoded, save one that stands at its very beginning; `{{parameters.KEY | path}}`
 * keeps its slashes.
 */
import type { Condition } from '../config/resources.ts';
import type { Json, JsonObject } from '../json.ts';

export const CATEGORIES = ['advertising', 'analytics', 'attribution', 'cdp', 'cloud_storage', 'other'] as const;
export type Category = (typeof CATEGORIES)[number];

export const FIELD_TYPES = ['string', 'secret', 'select', 'boolean', 'number'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export interface ConfigField {
  key: string;
  label: string;
  type: FieldType;
  required: boolean;
  /** A value that passes this field's own validation, as text. */
  placeholder: string;
  help_text: string;
  /** `select` only. */
  options?: string[];
  default?: Json;
  /** Not part of the catalog object: what a value must look like. */
  pattern?: string;
  /** Said when the pattern does not fit: "digits only, without dashes". */
  pattern_hint?: string;
  min?: number;
  max?: number;
  integer?: boolean;
  /** Secrets are one line unless this says otherwise: a pasted line break would end up in a header. */
  multiline?: boolean;
  /** `headers`: an object of string pairs, or its JSON text. `header_name`: a token of RFC 9110. `template`: Handlebars. */
  format?: 'url' | 'headers' | 'header_name' | 'template';
  /** Required only where another field has this value. */
  required_when?: { field: string; equals: string };
}

export type AuthDefinition =
  | { kind: 'none' }
  | { kind: 'bearer'; token: string }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'header'; name: string; value: string }
  | { kind: 'query'; name: string; value: string }
  /** Signs the exact bytes of the body; with `timestamp_header` the signed content is `<unix seconds>.<body>`. */
  | { kind: 'hmac'; header: string; secret: string; prefix?: string; encoding?: 'hex' | 'base64'; timestamp_header?: string }
  | {
      kind: 'aws_sigv4';
      access_key_id: string;
      secret_access_key: string;
      session_token?: string;
      region: string;
      service: string;
    }
  | { kind: 'oauth2_client_credentials'; token_url: string; client_id: string; client_secret: string; scope?: string; audience?: string }
  | { kind: 'oauth2_refresh_token'; token_url: string; client_id: string; client_secret: string; refresh_token: string }
  | { kind: 'google_service_account'; token_url: string; client_email: string; private_key: string; scope: string }
  /** The value of a config field chooses. */
  | { kind: 'choice'; field: string; options: Record<string, AuthDefinition> };
export type AuthKind = AuthDefinition['kind'];

export type BodyDefinition =
  /** One event: the payload itself. Several (batching on): a JSON array of payloads. `template` replaces the payload's own form. */
  | { kind: 'json'; template?: { field: string; when: { field: string; equals: string } } }
  /**
   * `{...common, [under]: [payloads]}`; without `under` a bare array. Texts in `common` may hold references; empty ones are left out,
   * and objects whose `$if` is an empty text.
   */
  | { kind: 'json_list'; under?: string; common?: JsonObject }
  | { kind: 'ndjson' }
  /** `application/x-www-form-urlencoded`; nested values as JSON text. */
  | { kind: 'form' }
  /** The payload becomes query parameters. */
  | { kind: 'query' }
  | { kind: 'none' };
export type BodyKind = BodyDefinition['kind'];

export interface BatchDefinition {
  max_items: number;
  max_bytes: number;
  interval_ms: number;
}

export interface PartialRule {
  /** Path of a list of error entries, and the path of the item's index inside an entry. */
  errors?: string;
  index?: string;
  /** Or: every whole number anywhere beneath these paths is the index of a failed item. */
  indexes?: string[];
  /** Or: path of a list with one entry per item, in order. */
  results?: string;
  /** For `results`: which entries were accepted. */
  accepted?: Condition;
  /** Path of the reason inside an entry. */
  reason?: string;
  failed: 'refused' | 'unavailable';
  /** What became of the items that are not named. */
  others: 'delivered' | 'unavailable';
}
/** The first rule that fits decides; where none does: 2xx delivered, 429 and 5xx unavailable, everything else refused. */
export interface AnswerRule {
  /** `200`, `"2xx"`; absent: any status. */
  status?: (number | string)[];
  /** Over `{status, body, headers}`; `body` is the parsed JSON, or the text where it is none. */
  when?: Condition;
  verdict: 'delivered' | 'refused' | 'unavailable' | 'refresh_token' | 'partial';
  partial?: PartialRule;
  /** Path of the vendor's own words in `{status, body, headers}`. */
  reason?: string;
  /** A header or body path that names a wait in seconds (or an HTTP date), or a fixed wait. */
  retry_after?: { header?: string; path?: string; ms?: number };
  /** `refused` only: one bad item fails the whole request, so each item is tried alone before it is refused. */
  isolate?: boolean;
}

export interface RequestDefinition {
  name?: string;
  /** Over `{key, event, payload, parameters}`; `key` is the event's name, or `@page`, `@identify`, `@group`. Absent: always. */
  when?: Condition;
  method: string;
  /** Text. */
  url: string;
  /** Values are texts; empty ones are left out. */
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** Config field (format `headers`) whose pairs are added. */
  headers_field?: string;
  auth?: AuthDefinition;
  body: BodyDefinition;
  /** Top-level keys of the payload that choose the request instead of standing in its body: `{{lane.KEY}}`. */
  lane?: string[];
  /** Path in the payload of what this request sends; a list gives one item an element. Absent: the whole payload. */
  items?: string;
  /** Objects in the payload whose keys are added to every item of `items`. */
  merge?: string[];
  /** Fields written into every item. Texts, which may refer to the item's event, payload and lane. */
  fill?: Record<string, string>;
  batch?: BatchDefinition;
  answers?: AnswerRule[];
  compression?: 'gzip';
}

/** Where a vendor wants the event's name, and what it accepts as one. */
export interface EventNameDefinition {
  target: string;
  /** Write the name only where the payload has something at this path. */
  only_with?: string;
  /** Used where the mapping names none; absent: the event's own name. Text. */
  default?: string;
  style?: 'keep' | 'identifier';
  max_length?: number;
  /** Names the vendor refuses: such events are dropped with `mapping_default`. */
  reserved?: string[];
  reserved_prefixes?: string[];
}

/** Limits a vendor sets on a map of free keys. What does not fit is cut or left out, never sent to be refused. */
export interface LimitRule {
  path: string;
  max_keys?: number;
  max_key_length?: number;
  /** `identifier`: letters, digits and underscores, beginning with a letter. */
  key_style?: 'keep' | 'identifier';
  max_string_length?: number;
  /** Other lengths for some keys. */
  string_lengths?: Record<string, number>;
  /** Longest list under a kept key. */
  max_list_length?: number;
  /** Leave out objects and lists, save these keys. */
  scalars_only?: boolean;
  keep?: string[];
}

export interface Variant {
  key: string;
  name: string;
  description: string;
  default_config: JsonObject;
}

export interface VendorDefinition {
  key: string;
  name: string;
  description: string;
  category: Category;
  status: 'ga' | 'beta';
  website: string;
  config_fields: ConfigField[];
  /** Of `requests` the first whose `when` fits is sent; with `send: all` every one that fits and has items. */
  requests: RequestDefinition[];
  send?: 'first' | 'all';
  event_name?: EventNameDefinition;
  limits?: LimitRule[];
  /** Lists whose empty objects are taken out (alternatives of which some were missing), and those that have none of the keys needed. */
  compact?: { path: string; needs?: string[] }[];
  /** Keys of the payload of which at least one must be there, else the event is dropped as `missing_required:<first>`. */
  require_one_of?: string[][];
  /** What happens to events the config does not map, where it does not say. */
  default_action: 'pass_through' | 'drop';
  /** Whether the collector may send it from the browser. */
  client_side?: boolean;
  /** The config may hold `request` or `requests` itself (custom HTTP). */
  authored_requests?: boolean;
  batching?: { field: string };
  timeout_ms?: number;
  rate?: { rps: number; burst?: number; daily?: number };
  concurrency?: number;
  variants: Variant[];
}

/**
 * The vendor format: what a definition may contain. A definition is data and survives a JSON round trip, so the API, the console and
 * the documentation show the same object. Behaviour has a name here (`auth.kind`, `body.kind`) and is implemented once in this folder.
 * `docs/reference/vendor-format.md` is generated from this file.
 *
 * A "text" may contain references:
 * - `{{parameters.KEY}}`: a config field, resolved at compile time;
 * - `{{event.PATH}}`, `{{payload.PATH}}`, `{{lane.KEY}}`, `{{item.id}}`, `{{item.visitor}}` (anonymous id, else user id), `{{item.id_sha256}}`,
 *   `{{item.visitor_sha256}}`: per item. Items with different values never share a request;
 * - `{{request.id}}`, `{{request.uuid}}` (the same id as a UUID), `{{request.attempt}}`, `{{request.timestamp}}`, `{{body.sha256}}`;
 * - `{{steps.NAME.KEY}}` in a chain, `{{job.id}}` in a poll;
 * - `{{date.year}}`, `month`, `day`, `hour`: of the first item's event.
 *
 * References in a URL are percent-encoded, except one at the very start; `{{parameters.KEY | path}}` keeps its slashes.
 * A text always renders to a string. Where a body is written, `{"$ref": "payload.PATH"}` inserts the value itself: a number, an object
 * or a list; `{"$json": …}` inserts its JSON text, `{"$base64": …, "suffix": …}` the same in base64.
 */
import type { Condition } from '../config/resources.ts';
import type { Json, JsonObject } from '../json.ts';
import type { PollDefinition } from './async-result.ts';
import type { AuthDefinition, ConnectDefinition } from './auth-definition.ts';
import type { ChainStep } from './chain.ts';
import type { TransportDefinition } from './transport.ts';

export type * from './auth-definition.ts';

export const CATEGORIES = ['advertising', 'analytics', 'attribution', 'cdp', 'cloud_storage', 'other'] as const;
export type Category = (typeof CATEGORIES)[number];

/** Finer than the category. The catalog and the documentation are ordered by it. */
export const GROUPS = [
  'advertising',
  'affiliate',
  'analytics',
  'attribution',
  'cdp',
  'engagement',
  'crm_and_support',
  'personalisation_and_testing',
  'notification',
  'storage_and_streams',
  'identity',
  'custom',
] as const;
export type Group = (typeof GROUPS)[number];

/** The types that the catalog shows. */
export const VALUE_TYPES = ['string', 'secret', 'select', 'boolean', 'number'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];
/** The catalog shows these as `string`, with `rows`: a config may also hold their JSON text. */
export const ROW_TYPES = ['list', 'table'] as const;
export type RowType = (typeof ROW_TYPES)[number];
export const FIELD_TYPES = [...VALUE_TYPES, ...ROW_TYPES] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export interface ConfigField {
  key: string;
  label: string;
  type: FieldType;
  required: boolean;
  /** A value that passes this field's own validation, as text; JSON text for `list` and `table`. */
  placeholder: string;
  /** Where in the vendor's interface the value is found. */
  help_text: string;
  /** `select` only. */
  options?: string[];
  default?: Json;
  /** A regular expression the value must match. Not part of the catalog object. */
  pattern?: string;
  /** Shown when the pattern does not match: "digits only, without dashes". */
  pattern_hint?: string;
  min?: number;
  max?: number;
  integer?: boolean;
  /** Has several lines. Otherwise a secret is one line, because a pasted line break would break a header. */
  multiline?: boolean;
  /** `headers`: an object of string pairs, or its JSON text. `header_name`: a token of RFC 9110. `template`: Handlebars. */
  format?: 'url' | 'headers' | 'header_name' | 'template';
  /** Required only when another field has this value. */
  required_when?: { field: string; equals: string };
  /** `table`: the columns of a row. `list`: one column, which describes an entry. Columns may be secrets. */
  columns?: ConfigField[];
  /** `list` and `table`: 200 by default. */
  max_rows?: number;
}

/** A body that is written item by item, and can therefore be the file of a `multipart` body. */
export type ListBody =
  /**
   * `{...common, [under]: [items]}`; without `under` a bare list. `under: 'data.events'` nests: `{data: {...common, events: [items]}}`. Texts in `common` may contain references, and `{"$ref": …}` inserts a
   * value. Empty texts are left out, and objects whose `$if` is empty. Items for which `common` differs never share a request.
   */
  | { kind: 'json_list'; under?: string; common?: JsonObject }
  | { kind: 'ndjson' }
  /** Header text → path in the item. Quotes as in RFC 4180. */
  | { kind: 'csv'; columns: Record<string, string>; delimiter?: string; header?: boolean };

export type BodyDefinition =
  | ListBody
  /** One event: the payload itself. Several (batching on): a JSON list of payloads. `template` replaces the payload's own form. */
  | { kind: 'json'; template?: { field: string; when: { field: string; equals: string } } }
  /**
   * `application/x-www-form-urlencoded`; nested values as JSON text. One item per request. `numbered`: a key whose list of objects is
   * written as numbered fields, such as `ItemSku1=a&ItemSku2=b`.
   */
  | { kind: 'form'; numbered?: string }
  /** A form in which one field holds the JSON list of all items: `api_key=…&events=[…]`. */
  | { kind: 'form_list'; field: string; common?: Record<string, string> }
  /**
   * An XML document. Keys become elements, lists repeated elements, `@name` an attribute, `#text` the element's text. With `item` the
   * items are elements of that name inside the root; without it one item per request. `attributes` are texts on the root.
   */
  | { kind: 'xml'; root: string; item?: string; attributes?: Record<string, string> }
  /** `multipart/form-data`: the items as one file, and further form fields (texts). */
  | {
      kind: 'multipart';
      file: { name: string; filename: string; content_type: string; content: ListBody };
      fields?: Record<string, string>;
    }
  /** The payload becomes query parameters. `numbered` as in a form. */
  | { kind: 'query'; numbered?: string }
  | { kind: 'none' };

export interface BatchDefinition {
  max_items: number;
  max_bytes: number;
  interval_ms: number;
  /**
   * Items with the same value at `by` become one item of the request. `last`: the newest replaces the others. `merge`: its fields are
   * laid over theirs. The outcome of the one item counts for all of them. For APIs that reject or reorder duplicates in one request.
   */
  combine?: { by: string; how: 'last' | 'merge' };
}

export interface PartialRule {
  /** Path of a list of error entries, and the path of the item's index inside an entry. */
  errors?: string;
  index?: string;
  /** With `errors` instead of `index`: the path of the item's key inside an entry (`$`: the entry itself). See `item_keys`. */
  key?: string;
  /** Or: every whole number anywhere beneath these paths is the index of a failed item. */
  indexes?: string[];
  /** Or: the texts and numbers in the lists at these paths, or the keys of the objects, are the keys of failed items. */
  keys?: string[];
  /** Or: path of a list with one entry per item, in order. */
  results?: string;
  /** For `results`: which entries were accepted. */
  accepted?: Condition;
  /** Path of the reason inside an entry. */
  reason?: string;
  failed: 'refused' | 'unavailable';
  /** Failed entries that match are refused, whatever `failed` says. */
  permanent?: Condition;
  /** The verdict of the items that are not named. */
  others: 'delivered' | 'unavailable';
}
/** The first rule that matches decides. Without a match: 2xx delivered, 429 and 5xx unavailable, everything else refused. */
export interface AnswerRule {
  /** `200`, `"2xx"`; absent: any status. */
  status?: (number | string)[];
  /** Over `{status, body, headers}`; `body` is the parsed JSON, or the text when it is not JSON. */
  when?: Condition;
  verdict: 'delivered' | 'accepted' | 'refused' | 'unavailable' | 'refresh_token' | 'partial';
  /** `accepted` only: path of the job's id. */
  job?: string;
  partial?: PartialRule;
  /** Path of the vendor's message in `{status, body, headers}`. */
  reason?: string;
  /** A header or body path with a wait in seconds (or an HTTP date), or a fixed wait. In a partial answer it applies to the failed items. */
  retry_after?: { header?: string; path?: string; ms?: number };
  /** `refused` only: one bad item fails the whole request, so each item is sent alone before it is refused. */
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
  /** Top-level keys of the payload that select the request instead of being part of its body: `{{lane.KEY}}`. */
  lane?: string[];
  /**
   * Path in the payload of what this request sends; a list gives one item per element. Several paths: the items of all of them, in this
   * order, in the same list (`$` is the payload without the other paths). Absent: the whole payload is one item.
   */
  items?: string | string[];
  /** Objects in the payload whose keys are added to every item of `items`. */
  merge?: string[];
  /** Fields written into every item. Texts that may refer to the item's event, payload, lane and `{{item.id}}`, unique in a batch. */
  fill?: Record<string, string>;
  /** The item as it is sent: a JSON value with texts and `{"$ref": …}`. Absent: the item itself. */
  shape?: Json;
  /** Field that receives the item's position in the request, from 0. JSON bodies only. */
  index_field?: { name: string; type: 'number' | 'string' };
  /** Paths in the item of the keys by which an answer names it (partial results by key). */
  item_keys?: string[];
  batch?: BatchDefinition;
  answers?: AnswerRule[];
  /** Where an answer may be `accepted`: how to ask for the result. */
  poll?: PollDefinition;
  compression?: 'gzip';
}

/** Where a vendor expects the event's name, and which names it accepts. */
export interface EventNameDefinition {
  target: string;
  /** Write the name only if the payload has a value at this path. */
  only_with?: string;
  /** Used when the mapping names none; absent: the event's own name. Text. */
  default?: string;
  /** `identifier`: letters, digits and underscores, starting with a letter. `lower_identifier`: the same in lower case. */
  style?: 'keep' | 'identifier' | 'lower_identifier';
  max_length?: number;
  /** Names the vendor rejects. Such events are dropped with `mapping_default`. */
  reserved?: string[];
  reserved_prefixes?: string[];
}

/** A vendor's limits on a map with free keys. Values that exceed them are cut or left out, so the vendor does not reject the event. */
export interface LimitRule {
  path: string;
  max_keys?: number;
  max_key_length?: number;
  /** `identifier`: letters, digits and underscores, starting with a letter. `lower_identifier`: the same in lower case. */
  key_style?: 'keep' | 'identifier' | 'lower_identifier';
  max_string_length?: number;
  /** Other lengths for some keys. */
  string_lengths?: Record<string, number>;
  /** Longest list under a kept key. */
  max_list_length?: number;
  /** Leave out objects and lists, except these keys. */
  scalars_only?: boolean;
  keep?: string[];
}

export interface Variant {
  key: string;
  name: string;
  description: string;
  default_config: JsonObject;
}

/** The API version a definition was written for, and when it ends. */
export interface ApiVersion {
  version: string;
  /** The day the vendor's documentation was read, `YYYY-MM-DD`. */
  checked: string;
  /** The config field with which a customer selects another version. */
  field?: string;
  /** Version → last day, where the vendor publishes one. */
  ends?: Record<string, string>;
}

/** A config field that switches a vendor's test mode on. */
export interface TestMode {
  field: string;
  /** The value that switches it on. Absent: a code that the customer copies from the vendor's interface. */
  value?: Json;
  /** What the vendor does with such an event: one sentence. */
  effect: string;
}

export const CONSENT_CATEGORIES = ['marketing', 'advertising', 'analytics', 'functional'] as const;
export type ConsentCategory = (typeof CONSENT_CATEGORIES)[number];

export interface VendorDefinition {
  key: string;
  name: string;
  description: string;
  category: Category;
  group: Group;
  /** `ga`: every mapped field was seen in the vendor's documentation. `beta`: see the open questions in `notes`. */
  status: 'ga' | 'beta';
  /** The vendor's API documentation. */
  website: string;
  /** What a customer does in the vendor's interface before installing, in order. */
  setup_steps: string[];
  /** Where in the vendor's interface an event shows after it was sent, and after how long. */
  see_it?: string;
  /** The vendor's way to try an event out. */
  test_mode?: TestMode;
  /** Decisions and limits a customer should know, one sentence each; for `beta` also the open questions. */
  notes?: string[];
  api_version?: ApiVersion;
  /** The install form proposes it. Advertising integrations without a consent category get a health warning. */
  default_consent_category?: ConsentCategory;
  config_fields: ConfigField[];
  /** Offers the OAuth connect flow. */
  connect?: ConnectDefinition;
  /** The first request whose `when` matches is sent; with `send: all` every one that matches and has items. */
  requests: RequestDefinition[];
  send?: 'first' | 'all';
  /** Instead of `requests`: the steps that every event walks. */
  chain?: ChainStep[];
  /** Instead of `requests`: a driver. */
  transport?: TransportDefinition;
  event_name?: EventNameDefinition;
  /**
   * A `table` field that maps events to the vendor's own ids (conversion rule, token). A row enables its event and sets its
   * `vendor_event_name`. `event` and `vendor_event_name` name the columns.
   */
  event_table?: { field: string; event: string; vendor_event_name: string };
  limits?: LimitRule[];
  /**
   * Lists whose empty objects are removed, and objects that have none of the keys in `needs`. A list that becomes empty is removed too,
   * unless `keep_empty`.
   */
  compact?: { path: string; needs?: string[]; keep_empty?: boolean }[];
  /** Paths that the vendor accepts only together, such as a value and its currency. If one is missing, the others are removed. */
  together?: string[][];
  /** Objects and lists at these paths are sent as JSON text, for APIs with JSON inside JSON. An empty object becomes an empty text. */
  json_text?: string[];
  /** Keys of the payload of which at least one must be present; otherwise the event is dropped as `missing_required:<first>`. */
  require_one_of?: string[][];
  /** Oldest event the vendor accepts. Older ones are dropped with `event_too_old`. */
  max_event_age_hours?: number;
  /** What happens to events the config does not map, unless the config says otherwise. */
  default_action: 'pass_through' | 'drop';
  /** Whether the collector may send it from the browser. */
  client_side?: boolean;
  /** The config may contain `request` or `requests` itself (custom HTTP). */
  authored_requests?: boolean;
  batching?: { field: string };
  timeout_ms?: number;
  rate?: { rps: number; burst?: number; daily?: number };
  concurrency?: number;
  variants: Variant[];
}

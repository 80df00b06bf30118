/**
 * An integration as the deliver role sees it: a vendor definition and a revision's config, compiled once at snapshot load.
 * Everything here is pure. Tokens that come over the network are described by `token` and fetched by the role.
 */
import type { VendorRate } from '../delivery/rate.ts';
import type { CanonicalEvent, EventHead } from '../event/canonical.ts';
import type { DropReason } from '../outcome/outcome.ts';
import type { ShallowValue } from '../shallow-json.ts';
import type { Steps } from '../steps.ts';
import type { CompiledPoll } from './async-result.ts';
import type { CompiledChain } from './chain.ts';
import type { CompiledTransport } from './transport.ts';

/** One event, ready for the vendor. Items of one `lane` may share a request (same endpoint, same headers). */
export interface VendorItem {
  readonly lane: string;
  readonly payload: unknown;
  /** Bytes the payload adds to a request body, for size limits of batches. */
  readonly size: number;
  readonly event_id: string;
}
export type Built =
  /** Several items if the vendor needs several for one event (Braze: attributes, events, purchases). */
  | { kind: 'items'; items: VendorItem[]; warnings?: string[] }
  | { kind: 'dropped'; reason: DropReason }
  /** The mapping or template broke on this event: a dead letter of stage `mapping`. */
  | { kind: 'failed'; reason: string };

/** Mutual TLS. PEM texts. */
export interface ClientCertificate {
  certificate: string;
  private_key: string;
  /** End of its validity, milliseconds since 1970; absent where nothing could read the certificate (previews). */
  valid_to?: number;
}
export interface VendorRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Absent for bodiless requests. */
  body?: string | Uint8Array;
  /** The connection's client certificate. Never shown. */
  tls?: ClientCertificate;
  /** The longest reply to read; 64 KB by default. */
  max_reply_bytes?: number;
}
/** A JSON Web Token to sign with the customer's key. */
export interface JwtPlan {
  algorithm: 'RS256' | 'ES256' | 'HS256';
  private_key: string;
  key_id?: string;
  claims: Record<string, string>;
  lifetime_s: number;
}
/** Auth that first fetches a token over the network. All other kinds are already part of the request. */
export type TokenPlan = TokenGrant & { tls?: ClientCertificate };
type TokenGrant =
  | {
      kind: 'oauth2_client_credentials';
      token_url: string;
      client_id: string;
      client_secret: string;
      scope?: string;
      audience?: string;
      extra?: Record<string, string>;
      style?: 'form' | 'json' | 'basic';
    }
  | {
      kind: 'oauth2_jwt_bearer';
      token_url: string;
      jwt: JwtPlan;
      scope?: string;
      role?: 'grant' | 'client';
      extra?: Record<string, string>;
    }
  | { kind: 'oauth2_refresh_token'; token_url: string; client_id: string; client_secret: string; refresh_token: string }
  | { kind: 'google_service_account'; token_url: string; client_email: string; private_key: string; scope: string };

export interface VendorReply {
  status: number;
  headers: Record<string, string>;
  /** At most 64 KB. */
  body: string;
}
export type Verdict =
  /** `note`: what the vendor complains about although it took the items. */
  | { kind: 'delivered'; note?: string }
  /** The vendor took the items as a job whose result is polled. */
  | { kind: 'accepted'; job: string }
  /** Permanent: dead letter at once. */
  | { kind: 'refused'; reason: string }
  /** `isolate`: one bad item fails the whole request at this vendor, so send each of the items alone the next time. */
  | { kind: 'unavailable'; reason: string; retry_after_ms?: number; refresh_token?: boolean; isolate?: boolean }
  /** One verdict per item, in request order. */
  | { kind: 'partial'; items: Exclude<Verdict, { kind: 'partial' }>[] };

export interface RequestContext {
  now: number;
  /** 1 on the first try. */
  attempt: number;
  /** Stable across retries: the event id for a single event, an id of the batch else. */
  request_id: string;
  /** The access token of `token`, if the request needs one. */
  access_token?: string | undefined;
  /** What earlier steps of a chain kept: `{{steps.NAME.KEY}}`. */
  steps?: Record<string, unknown>;
  /** The job of a poll: `{{job.id}}`. */
  job?: string | undefined;
}
/** An event as the log holds it. */
export interface StoredEvent {
  readonly event_id: string;
  /** When the event was accepted, milliseconds since 1970. */
  readonly received_at: number;
  /** UTF-8. May be a new view at each read. */
  readonly json: Uint8Array;
  /** The bytes of `json`. */
  readonly size: number;
  /** May parse at each read. */
  readonly event: CanonicalEvent;
  /** Cheaper than `event`. */
  readonly head: EventHead;
  /** Cheaper than `head`. */
  readonly timestamp: string;
  /** The fields of the event, nested ones as JSON text. Absent or undefined: read `event`. Cheaper than `event`. */
  shallow?(): readonly (readonly [name: string, value: ShallowValue])[] | undefined;
}
export interface BuildContext {
  now: number;
  /** When the event was accepted; absent in previews. */
  received_at?: number;
  /** Size of the event's JSON text, if it is known. */
  bytes?: number;
}
export interface CompiledVendor {
  build(event: CanonicalEvent, context: BuildContext): Built;
  /** The same in one step. Undefined where the event takes more than one. */
  buildAtOnce(event: CanonicalEvent, context: BuildContext): Built | undefined;
  /** The same, divided: mapping and encoding a large event take tens of milliseconds each. */
  buildInSteps(event: CanonicalEvent, context: BuildContext): Steps<Built>;
  /**
   * If every event is sent as it is: the item that `build` would make, directly from the event's JSON. Undefined for a single event:
   * `build` says why there is no item.
   */
  verbatim: ((stored: StoredEvent) => VendorItem | undefined) | undefined;
  /** Throws nothing for items that `build` made. */
  request(items: VendorItem[], context: RequestContext): VendorRequest;
  read(reply: VendorReply, items: VendorItem[], context: { now: number }): Verdict;
  /** Removes the integration's secrets from a text of the vendor. */
  scrub(text: string): string;
  /** Set where records go through a driver instead of HTTP. `request` only describes them for a preview then. */
  transport?: CompiledTransport;
  /** Set where every event walks a chain of requests. `request` is its first one then, for a preview. */
  chain?: CompiledChain;
  /** How the result of these items' job is polled. */
  poll?(items: VendorItem[]): CompiledPoll | undefined;
  /** The token the request of these items needs; absent if none of the vendor's requests needs one. */
  token?(items: VendorItem[]): TokenPlan | undefined;
  /** Null: one event per request. */
  batch: { max_items: number; max_bytes: number; interval_ms: number } | null;
  /** Deliver the events of a user, a visitor or a lane one after the other. Absent: in any order. */
  ordering?: 'user' | 'visitor' | 'lane';
  timeout_ms: number;
  /** 0–5. */
  max_retries: number;
  rate: VendorRate;
  /** Most requests in flight at once. */
  concurrency: number;
  /** From the config (webhook vendor); the integration record's own wins. */
  consent_category: string | null;
  warnings: string[];
  /** Warnings that depend on the date: the API version in use, client certificates. */
  expiryWarnings(now: number): string[];
}
export interface ConfigFault {
  /** Path inside the config, `events.Order Completed.mappings[2].transforms[0]`. */
  field: string;
  message: string;
}
/** `missing` faults make a template incomplete (allowed until it is assigned); `invalid` ones are refused at once. */
export type CompileResult = { ok: true; vendor: CompiledVendor } | { ok: false; missing: ConfigFault[]; invalid: ConfigFault[] };

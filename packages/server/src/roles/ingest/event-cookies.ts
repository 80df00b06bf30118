/** The cookies that a reply to a browser sets: the anonymous id, and vendor ids that consent allows. */
import { asInCookie } from '@firsthand/core/event/anonymous-id.ts';
import { idText } from '@firsthand/core/event/canonicalise.ts';
import { type JsonObject, own } from '@firsthand/core/json.ts';
import type { RequestMeta } from '../../intake/ingest-record.ts';
import { type CookieScope, ID_COOKIE, setCookie, sharedDomain } from './cookies.ts';
import { consentOf } from './event-consent.ts';
import type { Exchange } from './exchange.ts';
import { CookieJar, vendorIds } from './vendor-ids.ts';

export class EventCookies {
  readonly #exchange: Exchange;
  readonly #meta: RequestMeta;
  #jar: CookieJar | undefined;
  #scope: CookieScope | undefined;
  #mayRemember = true;
  #anonymousId: string | undefined;
  readonly #currentId: string | undefined;

  /** `body.cookieId` is the visitor's id when the request was sent. The collector may have reset it since the events were queued. */
  constructor(exchange: Exchange, meta: RequestMeta, body: JsonObject) {
    this.#exchange = exchange;
    this.#meta = meta;
    const currentId = idText(own(body, 'cookieId'));
    this.#currentId = currentId === undefined ? undefined : asInCookie(currentId, meta.cookieId);
  }
  /** Decides which cookies this event's consent allows. Returns the event's vendor ids. Call before its record is built. */
  prepare(event: JsonObject): Record<string, string> | undefined {
    const { rules } = this.#meta;
    if (rules.requiredCategory === undefined && rules.syncs.length === 0) return undefined;
    const organisation = this.#exchange.ctx.snapshots.current().organisations.get(rules.orgId);
    const granted = consentOf(event, this.#meta.context, this.#meta.gpc === true, organisation?.consent);
    this.#mayRemember = rules.requiredCategory === undefined || granted(rules.requiredCategory);
    if (rules.syncs.length === 0) return undefined;
    this.#jar ??= new CookieJar(this.#exchange.headers.cookie, this.#scopeOf());
    const mayMint = (category: string) => this.#mayRemember && granted(category);
    return vendorIds(rules.syncs, { granted, mayMint }, this.#jar, event, this.#meta.receivedAt);
  }
  remember(anonymousId: string | undefined): void {
    if (this.#mayRemember && anonymousId !== undefined) this.#anonymousId = anonymousId;
  }
  /** `Set-Cookie` values. None without the required category; of several events the last one decides, unless the request names the id. */
  headers(): string[] | undefined {
    if (!this.#mayRemember) return undefined;
    const minted = this.#jar?.minted;
    const id = this.#anonymousId === undefined ? undefined : (this.#currentId ?? this.#anonymousId);
    if (id === undefined || id === this.#meta.cookieId) return minted?.length ? minted : undefined;
    const cookie = setCookie(ID_COOKIE, id, this.#scopeOf());
    return cookie === undefined ? minted : [cookie, ...(minted ?? [])];
  }
  #scopeOf(): CookieScope {
    const { origin, ctx } = this.#exchange;
    this.#scope ??= { domain: sharedDomain(ctx.proxies.host(this.#exchange), origin), secure: ctx.proxies.secure(this.#exchange) };
    return this.#scope;
  }
}

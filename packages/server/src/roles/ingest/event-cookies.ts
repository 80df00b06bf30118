/** The cookies that a browser's answer sets: the anonymous id, and vendor ids that consent allows. */
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { consentOf } from './consent.ts';
import { type CookieScope, ID_COOKIE, setCookie, sharedDomain } from './cookies.ts';
import type { Exchange } from './exchange.ts';
import type { RequestFacts } from './record.ts';
import { CookieJar, vendorIds } from './vendor-ids.ts';

export class EventCookies {
  readonly #exchange: Exchange;
  readonly #facts: RequestFacts;
  #jar: CookieJar | undefined;
  #scope: CookieScope | undefined;
  #mayRemember = true;
  #anonymousId: string | undefined;

  constructor(exchange: Exchange, facts: RequestFacts) {
    this.#exchange = exchange;
    this.#facts = facts;
  }
  /** Before the record is built: decides by this event's consent and puts its vendor ids into the facts. */
  prepare(event: JsonObject): void {
    const { rules } = this.#facts;
    if (rules.requiredCategory === undefined && rules.syncs.length === 0) return;
    const organisation = this.#exchange.ctx.snapshots.current().organisations.get(rules.orgId);
    const context = own(event, 'context');
    const gpc = this.#facts.gpc === true || (isObject(context) && own(context, 'gpc') === true);
    const granted = consentOf(event, this.#facts.context, gpc, organisation?.consent);
    this.#mayRemember = rules.requiredCategory === undefined || granted(rules.requiredCategory);
    if (rules.syncs.length === 0) return;
    this.#jar ??= new CookieJar(this.#exchange.req.headers.cookie, this.#scopeOf());
    const mayMint = (category: string) => this.#mayRemember && granted(category);
    this.#facts.vendorIds = vendorIds(rules.syncs, { granted, mayMint }, this.#jar, event, this.#facts.receivedAt);
  }
  remember(anonymousId: string | undefined): void {
    if (this.#mayRemember && anonymousId !== undefined) this.#anonymousId = anonymousId;
  }
  /** Without the required category nothing is kept on the device; of several events the last tells what the visitor wants now. */
  headers(): string[] | undefined {
    if (!this.#mayRemember) return undefined;
    const minted = this.#jar?.minted;
    const id = this.#anonymousId;
    if (id === undefined || id === this.#facts.cookieId) return minted?.length ? minted : undefined;
    const cookie = setCookie(ID_COOKIE, id, this.#scopeOf());
    return cookie === undefined ? minted : [cookie, ...(minted ?? [])];
  }
  #scopeOf(): CookieScope {
    const { req, origin, ctx } = this.#exchange;
    this.#scope ??= { domain: sharedDomain(ctx.proxies.host(req), origin), secure: ctx.proxies.secure(req) };
    return this.#scope;
  }
}
